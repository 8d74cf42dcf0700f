/* simulation/engine.h - simulates a trace under a policy, on a cluster that exists only in memory
 *
 * Time advances from event to event.  The policy is asked when a job arrives; also when a job has
 * ended, when more is known about one, or when the plan requests it, but then not sooner than a
 * tick after the last time.  A job whose size changes (starting is a change) makes no progress for
 * the time of a restart.  All GPUs are alike, and any combination makes a size: there is no
 * placement.
 */
#ifndef SIMULATION_ENGINE_H
#define SIMULATION_ENGINE_H

#include <stdint.h>

#include "planner/policy.h"
#include "simulation/trace.h"

enum curve_knowledge {
    CURVES_KNOWN, /* the planner is told the profile */
    /* the planner knows only the rate at the smallest size, times (size ratio)^exponent */
    CURVES_PRIOR,
    /* the same, but once a job of the same model and batch size has run at a size, that size is
     * known */
    CURVES_LEARNED
};

struct simulation_options {
    int gpus;
    double tick;    /* minimum seconds between decisions, unless a job arrives */
    double restart; /* seconds */
    double guard;   /* seconds */
    double error;   /* standard deviation of the logarithm of (predicted / real work) */
    double live; /* seconds of running after which the remaining work is known; INFINITY: never */
    enum curve_knowledge curves;
    double exponent;       /* of the prior */
    double firm;           /* share of the jobs that are firm, 0 to 1 */
    double best_effort;    /* share of the jobs that lose their deadline, 0 to 1 */
    double deadline_scale; /* factor for the time from arrival to deadline */
    double reserve;        /* struct plan_state */
    uint64_t seed;
    /* Called for each job whose size is about to change to `give`; may be NULL. */
    void (*observe)(void *context, double now, const struct plan_job *job);
    void *context; /* for it */
};

/* Averages of nothing are 0. */
struct simulation_result {
    size_t jobs, deadline_jobs, best_effort_jobs;
    size_t feasible; /* jobs that could meet their deadline alone, at some size */
    size_t met, unfinished;
    size_t promised,
        broken; /* firm jobs that were in a plan; of these, the jobs that missed their deadline */
    double dsr, dsr_feasible; /* met / deadline jobs; met / feasible */
    double tardiness_mean,
        tardiness_p95;  /* seconds, of jobs that missed their deadline and ended */
    double utilisation; /* GPU-seconds held / (GPUs times span) */
    double effective;   /* progress / rate at the smallest size / (GPUs times span) */
    double best_effort_mean, best_effort_p95; /* seconds from arrival to end */
    double late_mean, late_p95;               /* the same for jobs that missed their deadline */
    double span;                              /* seconds from the first arrival to the last end */
    size_t starts, resizes, preemptions;      /* from 0; between sizes; to 0 */
    double restart_seconds;                   /* spent in restarts, times GPUs */
    size_t decisions;
    double decision_seconds; /* processor time of all decisions */
};

/* The load at one moment, for drawing. */
struct simulation_sample {
    double time;      /* seconds after the first arrival */
    int used, wanted; /* GPUs; wanted: requested by all jobs present */
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
