/* executors/slurm/codes.h - what Slurm's error numbers mean for a submission */
#ifndef EXECUTORS_SLURM_CODES_H
#define EXECUTORS_SLURM_CODES_H

#include "executors/executor.h"

/* The outcome of a refused submission. *hint is what the sentence says besides Slurm's own message,
 * namely which field is concerned and what to do; or "". */
enum submit_outcome slurm_code_outcome(int code, const char **hint);

/* Who can fix the cause of the refusal. */
enum submit_mender slurm_code_mender(int code);

#endif
