/* stages/submit/queue_job.h - a job of a queue, and the few bytes that are kept of each
 *
 * A hundred thousand jobs may wait, and most of them ask for the same as others do: that is kept once for all of them,
 * as long as one of them is there.  What is kept of a job stays where it is until the job is forgotten.
 */
#ifndef STAGES_SUBMIT_QUEUE_JOB_H
#define STAGES_SUBMIT_QUEUE_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executors/resources.h"
#include "spool/id.h"

struct queue_job {
    char id[ID_SIZE];
    uid_t owner;
    int priority;
    int64_t top; /* when it was put on top of its owner's; 0: it was not */
    /* For the caller: the values that were passed in: */
    struct demand demand; /* what must be free for it to start */
    int at_once;          /* how many times that a row of limits.rows must have; 0 is 1 */
    int64_t gpu_time;     /* what it takes of gpu_hours (stages/shared/use.h) */
    /* it comes before all others of its priority, without waiting for its owner's turn */
    bool first;
    bool unsettled; /* the executor may have it: it goes before all others */
    /* Of a job that was taken; the queue's own, as is: */
    uint64_t turn;
    int64_t since; /* when its owner had a turn last, or began to wait */
    bool fresh;    /* ... which was the latter */
};

struct kept_job {
    struct asked_for *asked; /* what it asks for, and how many do */
    int64_t top;
    int64_t time; /* for the queue: when it may be taken again, of clock_elapsed(); 0: now */
    uid_t owner;
    int priority;
    bool first, unsettled;
};

struct kept_jobs;

struct kept_jobs *queue_job_table(void);
void queue_job_free_table(struct kept_jobs *jobs); /* NULL is fine */

struct kept_job *queue_job_find(const struct kept_jobs *jobs, const char *id); /* NULL: not there */
/* It must not be there; of what was taken nothing is kept. */
struct kept_job *queue_job_keep(struct kept_jobs *jobs, const struct queue_job *job);
void queue_job_forget(struct kept_jobs *jobs, struct kept_job *kept);

struct text queue_job_id(const struct kept_job *kept); /* a NUL follows it */
struct queue_job queue_job_of(const struct kept_job *kept);

#endif
