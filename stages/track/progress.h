/* stages/track/progress.h - the events of a job that the executor has
 *
 * Each function adds a line for the job's log of what the executor reported.
 */
#ifndef STAGES_TRACK_PROGRESS_H
#define STAGES_TRACK_PROGRESS_H

#include "base/text.h"
#include "executors/executor.h"

void progress_add_started(struct buffer *lines, const struct job_poll *poll);
void progress_add_waiting(struct buffer *lines, const struct job_poll *poll);
/* How each task ended; and that the job has finished, if it succeeded and no task is left to run. */
void progress_add_ended(struct buffer *lines, const struct job_poll *poll, bool complete);

#endif
