/* stages/track/progress.h - writes the events of a job that the executor has
 *
 * Each function appends to the log of the job directory `job` what the executor reported.  -1 and a
 * sentence on failure.
 */
#ifndef STAGES_TRACK_PROGRESS_H
#define STAGES_TRACK_PROGRESS_H

#include "executors/executor.h"

int progress_started(int job, const struct job_poll *poll, struct error *error);
int progress_waiting(int job, const struct job_poll *poll, struct error *error);
/* How each task ended; and that the job has finished, if it succeeded and no task is left to run. */
int progress_ended(int job, const struct job_poll *poll, bool complete, struct error *error);

#endif
