/* stages/submit/victims.h - which running jobs are stopped so that others get what is theirs
 *
 * Of those that may be stopped, jobs of lower priority go first, and then those that lose least: a job with a
 * checkpoint loses what its start costs, one without all that it has done, times its GPUs.  Nobody is chosen whom the
 * others that are chosen make needless.
 */
#ifndef STAGES_SUBMIT_VICTIMS_H
#define STAGES_SUBMIT_VICTIMS_H

#include "stages/shared/use.h"

struct victim {
    const char *id;
    struct text queue;
    int priority;
    struct use_amounts has; /* but for gpu_time */
    int64_t ran;            /* milliseconds; 0: it has not started */
    double loss;            /* GPU-seconds; of a job without GPUs, CPU-seconds */
    bool saves;             /* it has a checkpoint */
    bool is_exempt;         /* it has not run for long enough */
    bool stops;             /* it is being stopped already, or has ended ... */
    bool chosen;            /* ... or is to be */
    struct job_record *record;
};

struct victims { /* texts are in an arena */
    struct victim *items;
    size_t count;
};

struct victims_terms {
    const struct spool *spool;
    const struct job_limits *limits;
    int64_t now;        /* time of day */
    bool start_at_once; /* jobs are not queued by a scheduler: what has not started is about to */
};

/* Read the jobs of submitted/ that name a queue, in the order in which they are chosen.  The caller frees the items.
 * -1 and a sentence when submitted/, or a job in it, cannot be read now: then there are none. */
int victims_read(const struct victims_terms *terms, struct arena *arena, struct victims *victims,
                 struct error *error);

/* Choose until no queue is short of what is its own (struct cohort_queue: claim), among the jobs of queues that
 * borrow. */
void victims_choose_borrowers(struct victims *victims, const struct use_cohort *cohort);

/* Choose until that much is free, GPUs of that type unless it is empty, among the jobs of the queue that have a lower
 * priority; none when all of them are not enough. */
void victims_choose_lower(struct victims *victims, struct text queue, int priority,
                          struct text gpu_type, struct use_amounts needed);

#endif
