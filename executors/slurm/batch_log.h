/* executors/slurm/batch_log.h - what Slurm says of a job in batch.log, where its batch script's output goes */
#ifndef EXECUTORS_SLURM_BATCH_LOG_H
#define EXECUTORS_SLURM_BATCH_LOG_H

#include "executors/slurm/jobs.h"

/* Has Slurm killed processes of that number of the job's for want of memory?  Where it measures by itself
 * (OverMemoryKill) it kills the batch script with them, reports a job that failed by SIGKILL, and says why in this
 * file alone.  False, too, where the file cannot be read.  It is the job user's: what it says is believed about this
 * job only. */
bool slurm_batch_log_tells_memory(const struct slurm *slurm, const struct slurm_job *job,
                                  int64_t number);

#endif
