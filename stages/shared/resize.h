/* stages/shared/resize.h - <id>/resize: a request to change the size of a running job
 *
 * The submit stage, which plans, writes the request into the directory of a job of submitted/,
 * makes it durable and notifies the track stage, which has the job, grants the request and removes
 * it.  Each request has a generation, one more than record.resizes; a request of any other
 * generation is void.  Asking the executor twice for the same size does no harm, so after a crash
 * the request is granted again.
 *
 * Where the executor can resize a running job (its `resize`), it does.  Otherwise a job that has a
 * checkpoint is signalled to save its state and is killed when its grace period is over; it goes to
 * failed/ with the reason Resized, and from there at once to rendered/, at its new size.  `to` 0
 * does the same without a new size: the job is preempted (Preempted), and is submitted again when
 * the plan has capacity for it, or, where intake wrote the request because somebody holds the job, goes to held/.
 * The submit stage also has jobs stopped for queues that take back what they have lent, and for jobs of higher
 * priority (stages/submit/reclaim.c).
 *
 * The file contains the line of the event.  A damaged file, or a directory of that name, is no
 * request: the next plan writes another.
 */
#ifndef STAGES_SHARED_RESIZE_H
#define STAGES_SHARED_RESIZE_H

#include "spool/record.h"

struct resize_request {
    int generation;
    int64_t from, to; /* job/sizes.h; to 0: the job must be stopped ... */
    bool loses;       /* ... also one without a checkpoint, which then begins anew */
    int64_t when;
    char reason[256]; /* a sentence, for the job's log */
};

/* The beginning of the reason for which a job is stopped because somebody holds it. */
#define RESIZE_HELD "it is held by "

/* Write the file, and the event `resize` into the log.  Nothing is synced.  -1 and a sentence. */
int resize_write(int job, const struct job_record *record, const struct resize_request *request,
                 struct error *error);

/* 1 and the request; 0: there is none, or it is void or damaged; -1 when that cannot be determined
 * now, which is logged. */
int resize_pending(int job, const struct job_record *record, struct resize_request *request);

/* Does a file of that name exist, or could it?  A quick check that needs no record. */
bool resize_is_there(int job);

/* Rename a directory of that name to resize.damaged. */
int resize_clear(int job, struct error *error);

#endif
