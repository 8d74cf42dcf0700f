/* executors/slurm/reason.h - why a job waits, and how one ended, in plain words */
#ifndef EXECUTORS_SLURM_REASON_H
#define EXECUTORS_SLURM_REASON_H

#include "executors/slurm/records.h"

/* A sentence on why a record waits, into `buffer`.  False, and "", when there is nothing to say. */
bool slurm_reason_waiting(const struct slurm_record *record, char *buffer, size_t size);

/* Will it wait for ever, as far as Slurm can tell? */
bool slurm_reason_waits_for_ever(const struct slurm_record *record);

/* Does Slurm hold it because it could not be launched on a node? */
bool slurm_reason_is_launch(const struct slurm_record *record);

/* The one word for how a record has ended, as retry.txt knows it; `exit_code` is what the failure
 * counts as where no task tells; the sentence goes to `buffer`.  `begun`: its script is known to have
 * begun.  For states that are over and are no success. */
const char *slurm_reason_ended(const struct slurm_record *record, bool begun, int *exit_code,
                               char *buffer, size_t size);

#endif
