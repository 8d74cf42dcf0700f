/* planner/state.h - the planner's input and its decisions
 *
 * The planner is a pure function: a struct plan_state in, a decision for each job out.  It has no
 * clock, does no input or output and draws no random numbers, so the same state gives the same
 * decisions, bit for bit; ties are broken by id.  The submit stage and `dlspool simulate` call the
 * same code.
 *
 * Times are seconds since an arbitrary moment that is the same for the whole state; INFINITY means
 * never.  Sizes count what is scheduled: GPUs, or CPUs when there are none.  Work is counted in
 * units of progress (steps, samples, ...), rates in units per second.
 */
#ifndef PLANNER_STATE_H
#define PLANNER_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* A size that a job can have, and its predicted speed at that size. */
struct plan_level {
    int size;    /* greater than in the previous level */
    double rate; /* greater than in the previous level */
};

enum deadline_status {
    DEADLINE_BEST_EFFORT, /* has no deadline */
    DEADLINE_ON_TRACK,    /* in the plan: predicted to end in time */
    DEADLINE_AT_RISK,     /* others were preferred; it runs on spare capacity */
    DEADLINE_CANNOT_MEET, /* cannot be met, not even alone at the largest size */
    DEADLINE_LATE         /* its deadline has passed */
};

struct plan_job {
    const char *id; /* breaks ties */
    double arrival;
    double deadline; /* INFINITY: none */
    bool firm;       /* once in the plan it is not dropped for others */
    double weight;   /* of its deadline, or among jobs without one; greater than 0, usually 1 */
    double work;     /* remaining units, at the planning quantile */
    const struct plan_level *levels; /* ascending, without sizes at which it is not faster */
    size_t level_count;              /* at least 1; 1 for a job of fixed size */
    int wanted;     /* the size that its user asked for, which policies without resizing give it */
    int size;       /* its size now; 0: it does not run */
    double restart; /* seconds without progress after each start or resize */
    double restart_left; /* the same, for the start or resize that is under way */
    bool promised;       /* firm, and was in an earlier plan */
    bool refused;        /* a policy that decides only once has refused it */
    bool admitted;       /* ... for it */
    bool kept;           /* if it runs, it may be neither stopped nor resized now */
    bool unstoppable;    /* once it runs, it may be resized but not stopped */
    /* seconds that growing beyond the need of its deadline must save, otherwise it does not grow
     * (planner/spare.c); 0: any */
    double least_gain;
    int owner; /* index of its user in plan_state.tokens; ignored when that is NULL */
    /* decided: */
    int give; /* the size from now on */
    enum deadline_status deadline_status;
    bool over;     /* beyond its owner's tokens: planned after all others, never promised */
    double finish; /* when it is predicted to end; INFINITY: unknown */
};

struct plan_state {
    double now;
    int capacity;   /* of the cluster, used or not */
    double guard;   /* margin by which deadlines are met, where possible */
    double reserve; /* share of the capacity that best effort gets first, 0 to 1 */
    /* a running job is preferred to a waiting one that costs up to this many times less; 1 or
     * less: never to one that costs less */
    double sticky;
    /* How much each user may still be promised: capacity times seconds, times the weight where that
     * is more than 1.  A user's jobs are charged from the cheapest on; those beyond the amount are
     * planned after all jobs within it, and get spare capacity after others.  NULL: no limit. */
    const double *tokens;
    size_t token_count;
    struct plan_job **jobs; /* jobs that have not ended, in any order */
    size_t job_count;
    /* decided: */
    double next; /* when to make the next plan; INFINITY: at the next event */
};

/* The largest level of at most `size`, or NULL. */
static inline const struct plan_level *plan_level_at_most(const struct plan_job *job, int size)
{
    const struct plan_level *found = NULL;
    for (size_t i = 0; i < job->level_count && job->levels[i].size <= size; i++)
        found = &job->levels[i];
    return found;
}

/* The index of the level after the one given to the job so far; level_count when that is the last. */
static inline size_t plan_next_level(const struct plan_job *job)
{
    size_t level = 0;
    while (level < job->level_count && job->levels[level].size <= job->give)
        level++;
    return level;
}

#endif
