/* commands/twice.h - telling whoever submits a job file that the same one is already under way */
#ifndef COMMANDS_TWICE_H
#define COMMANDS_TWICE_H

#include "commands/view.h"

/* Say, as a note on standard error, that another job of the same owner, name and job file (byte for byte)
 * waits, is queued, runs or is held.  That is allowed, and both run; but it is also what a file that was
 * submitted twice looks like.  Reads the job.yaml of jobs of that name only, and none of done/ or failed/. */
void twice_complain(const struct spool *spool, const struct job_view *view);

#endif
