/* executors/slurm/codes.h - what Slurm's numbers of errors mean for a submission */
#ifndef EXECUTORS_SLURM_CODES_H
#define EXECUTORS_SLURM_CODES_H

#include "executors/executor.h"

/* How a refused submission is sorted.  *hint is what the sentence says beside Slurm's own words,
 * which field it is about and what to do; or "". */
enum submit_outcome slurm_code_outcome(int code, const char **hint);

/* Who can fix what it was refused for. */
enum submit_mender slurm_code_mender(int code);

#endif
