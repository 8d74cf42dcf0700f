/* executors/slurm/missing.h - jobs that Slurm does not know (any more)
 *
 * A job that slurmctld has forgotten is submitted again, under the same token, when it was missing for
 * some seconds and never began.  One that began counts as running as long as its heartbeat goes on, and
 * as vanished after that.
 */
#ifndef EXECUTORS_SLURM_MISSING_H
#define EXECUTORS_SLURM_MISSING_H

#include "executors/slurm/polling.h"

/* Handle a job without a record at Slurm.  True when its files, or an earlier decision, say how it
 * ended; `missing` is set when the accounting is to be asked. */
bool slurm_missing_judge(struct slurm_polling *polling, struct slurm_asked *asked);

/* Ask the accounting about the missing jobs. */
void slurm_missing_ask_accounting(struct slurm_polling *polling);

/* Decide about a job that neither Slurm, nor its files, nor the accounting know the end of: it runs, has
 * vanished, or is submitted again. */
void slurm_missing_settle(struct slurm_polling *polling, const struct slurm_version *version,
                          struct slurm_asked *asked);

#endif
