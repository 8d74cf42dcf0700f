/* simulation/engine.h - a trace run through a policy, on a cluster that exists in memory only
 *
 * Time advances from event to event.  The policy is asked when a job comes; and when one ended, more
 * became known of one, or the plan wanted it, but then not sooner than a tick after the last time.  A job
 * whose size changes (a start is one) makes no progress for the time of a restart.  GPUs are alike,
 * and any of them make a size: there is no placement.
 */
#ifndef SIMULATION_ENGINE_H
#define SIMULATION_ENGINE_H

#include <stdint.h>

#include "planner/policy.h"
#include "simulation/trace.h"

enum curve_knowledge {
    CURVES_KNOWN,  /* the planner is told the profile */
    CURVES_PRIOR,  /* only the rate at the smallest size; times (size ratio)^exponent */
    CURVES_LEARNED /* the same, but sizes that a job of the same model and batch size ran
                                   at are known from then on */
};

struct simulation_options {
    int gpus;
    double tick;    /* seconds between decisions, at least, unless a job comes */
    double restart; /* seconds */
    double guard;   /* seconds */
    double error;   /* standard deviation of the logarithm of (predicted / real work) */
    double live;    /* seconds of running after which the work left is known; INFINITY */
    enum curve_knowledge curves;
    double exponent;       /* of the prior */
    double firm;           /* share of the jobs that are firm, 0 to 1 */
    double best_effort;    /* share of the jobs that lose their deadline, 0 to 1 */
    double deadline_scale; /* a deadline is so many times as far from the arrival */
    double reserve;        /* struct plan_state */
    uint64_t seed;
    /* Told of each job whose size is about to change to `give`; NULL: nobody is. */
    void (*observe)(void *context, double now, const struct plan_job *job);
    void *context; /* for it */
};

/* Averages are 0 where there is nothing to average. */
struct simulation_result {
    size_t jobs, deadline_jobs, best_effort_jobs;
    size_t feasible; /* could meet their deadline if they were alone, at any size */
    size_t met, unfinished;
    size_t promised, broken;  /* firm jobs that were in a plan; of these, those that missed */
    double dsr, dsr_feasible; /* met / deadline jobs; met / feasible */
    double tardiness_mean, tardiness_p95; /* seconds, of those that missed and ended */
    double utilisation;                   /* GPU-seconds held / (GPUs times span) */
    double effective; /* progress / rate at the smallest size / (GPUs times span) */
    double best_effort_mean, best_effort_p95; /* seconds from arrival to end */
    double late_mean, late_p95;               /* the same of jobs that missed */
    double span;                              /* seconds from the first arrival to the last end */
    size_t starts, resizes, preemptions;      /* from 0; between sizes; to 0 */
    double restart_seconds;                   /* spent in restarts, times GPUs */
    size_t decisions;
    double decision_seconds; /* processor time of all decisions */
};

/* A moment of the load, for drawing. */
struct simulation_sample {
    double time;      /* seconds after the first arrival */
    int used, wanted; /* GPUs; wanted: of all jobs that are there, as asked for */
    size_t missed;    /* deadlines, so far */
};

struct simulation_samples {
    struct simulation_sample *samples; /* freed by the caller */
    size_t count, capacity;
};

/* `samples` may be NULL. */
void engine_run(const struct trace *trace, const struct simulation_options *options,
                const struct policy *policy, struct simulation_result *result,
                struct simulation_samples *samples);

#endif
