/* stages/shared/resize.h - <id>/resize: a running job is to have another size
 *
 * The submit stage, which plans, writes the request into the directory of a job of submitted/, makes it
 * durable and rings; the track stage, which has the job, grants it and takes it away.  Each request has
 * a generation, one more than record.resizes; a request of any other generation is void.  Asking the
 * executor twice for the same size does no harm, so after a crash it is granted again.
 *
 * Granted how: while the job runs, where the executor can (its `resize`); otherwise the job, if it has
 * a checkpoint, is told by its signal to save its state and is ended when its grace is over, goes to
 * failed/ with the reason Resized, and from there at once to rendered/, at its new size.  `to` 0 is
 * the same without a new size: it gives way to others (Preempted), and is submitted again when the
 * plan has room for it.
 *
 * The file holds the line of the event.  A damaged file, or one that is a directory, is no request: the
 * next plan writes another.
 */
#ifndef STAGES_SHARED_RESIZE_H
#define STAGES_SHARED_RESIZE_H

#include "spool/record.h"

struct resize_request {
    int generation;
    int64_t from, to; /* job/sizes.h; to 0: it must be stopped */
    int64_t when;
    char reason[256]; /* a sentence, for the job's log */
};

/* Write the file, and the event `resize` into the log.  Nothing is synced.  -1 and a sentence. */
int resize_write(int job, const struct job_record *record, const struct resize_request *request,
                 struct error *error);

/* 1 and the request; 0: there is none, or it is void; -1 when that cannot be told now.  A damaged
 * one is none. */
int resize_pending(int job, const struct job_record *record, struct resize_request *request);

/* Is there a file of that name at all, or may there be?  Needs no record: the quick look. */
bool resize_is_there(int job);

/* What has its name and is a directory becomes resize.damaged. */
int resize_clear(int job, struct error *error);

#endif
