/* commands/twice.h - warns when the same job file was submitted before */
#ifndef COMMANDS_TWICE_H
#define COMMANDS_TWICE_H

#include "client/view.h"

/* Print a note on standard error when another job with the same owner, name and job file (byte
 * for byte) waits, is queued, runs or is held.  That is allowed, and both run; but it may be an
 * accident.  Reads the job.yaml of jobs with that name only, and none in done/ or failed/. */
void twice_complain(const struct spool *spool, const struct job_view *view);

#endif
