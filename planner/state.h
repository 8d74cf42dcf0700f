/* planner/state.h - the planner's input and its decisions
 *
 * The planner is a pure function: a struct plan_state in, a decision for each job out.  It has no
 * clock, does no input or output and draws no random numbers, so the same state gives the same
 * decisions, bit for bit; ties are broken by id.  The submit stage and `dlspool simulate` call the
 * same code.
 *
 * Times are seconds after any moment that is the same for the whole state; INFINITY is never.
 * Sizes count what is scheduled: GPUs, or CPUs where there are none.  Work is counted in units of
 * progress (steps, samples, ...), rates in units per second.
 */
#ifndef PLANNER_STATE_H
#define PLANNER_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* A size that a job can have, and how fast it is then predicted to be. */
struct plan_level {
    int size;    /* more than that of the level before */
    double rate; /* more than that of the level before */
};

enum deadline_status {
    DEADLINE_BEST_EFFORT, /* has no deadline */
    DEADLINE_ON_TRACK,    /* in the plan: predicted to be done in time */
    DEADLINE_AT_RISK,     /* others were preferred; it runs on what is spare */
    DEADLINE_CANNOT_MEET, /* not even alone, at its largest size */
    DEADLINE_LATE         /* its deadline is over */
};

struct plan_job {
    const char *id; /* what ties are broken by */
    double arrival;
    double deadline; /* INFINITY: none */
    bool firm;       /* once in the plan it is not dropped for others */
    double weight;   /* of its deadline, or among those without one; 1 for most; more than 0 */
    double work;     /* units that are left, at the quantile that is planned with */
    const struct plan_level *levels; /* ascending; those at which it cannot be faster left out */
    size_t level_count;              /* at least 1; 1 for a job of fixed size */
    int wanted;                      /* the size that its user asked for; what policies without
                                   resizing give it */
    int size;                        /* what it has now; 0: it does not run */
    double restart;                  /* without progress after each start or change of size */
    double restart_left;             /* of the one that is under way */
    bool promised;                   /* firm, and was in a plan before */
    bool refused;                    /* a policy that decides once decided against it */
    bool admitted;                   /* ... for it */
    bool kept;                       /* may neither be stopped nor resized now, if it runs */
    bool unstoppable;                /* may be resized, but not stopped, once it runs */
    double least_gain; /* seconds that growing beyond what its deadline needs has to save,
                                   else it is not given (planner/spare.c); 0: any */
    int owner;         /* index of its user in plan_state.tokens; ignored if there are none */
    /* decided: */
    int give; /* the size from now on */
    enum deadline_status deadline_status;
    bool over;     /* beyond its owner's tokens: planned after all others, never promised */
    double finish; /* when it is predicted to be done; INFINITY: not foreseen */
};

struct plan_state {
    double now;
    int capacity;   /* of the cluster, used or not */
    double guard;   /* deadlines are met by this margin, where possible */
    double reserve; /* share of the capacity that best effort is lent first, 0 to 1 */
    double sticky;  /* a running job is preferred to a waiting one that costs this many times
                                   less; 1 or less: to none that costs less */
    /* What each user may still have promised: capacity times seconds, times the weight where that is
     * more than 1.  A user's jobs that cost more than that, the cheapest first, are taken into a plan
     * after all that do not, and come after others where capacity is spare.  NULL: anything. */
    const double *tokens;
    size_t token_count;
    struct plan_job **jobs; /* that are not done, in any order */
    size_t job_count;
    /* decided: */
    double next; /* when the plan wants to be made again; INFINITY: at the next event */
};

/* The largest level of at most `size`, or NULL. */
static inline const struct plan_level *plan_level_at_most(const struct plan_job *job, int size)
{
    const struct plan_level *found = NULL;
    for (size_t i = 0; i < job->level_count && job->levels[i].size <= size; i++)
        found = &job->levels[i];
    return found;
}

/* The index of the level after the one that the job is given so far; level_count when that is the
 * last. */
static inline size_t plan_next_level(const struct plan_job *job)
{
    size_t level = 0;
    while (level < job->level_count && job->levels[level].size <= job->give)
        level++;
    return level;
}

#endif
