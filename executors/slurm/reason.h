/* executors/slurm/reason.h - explains why a job waits and how one ended */
#ifndef EXECUTORS_SLURM_REASON_H
#define EXECUTORS_SLURM_REASON_H

#include "executors/slurm/records.h"

/* Write a sentence into `buffer` that says why a record waits.  False, and "", when there is
 * nothing to say. */
bool slurm_reason_waiting(const struct slurm_record *record, char *buffer, size_t size);

/* Will it wait for ever, as far as Slurm knows? */
bool slurm_reason_waits_for_ever(const struct slurm_record *record);

/* Does Slurm hold it because it could not be launched on a node? */
bool slurm_reason_is_launch(const struct slurm_record *record);

/* The reason for how a record has ended, one word as in retry.txt.  `exit_code` is the failure's
 * exit code if no task has one; the sentence goes to `buffer`.  `begun`: its script is known to
 * have started.  Only for states that have ended without success. */
const char *slurm_reason_ended(const struct slurm_record *record, bool begun, int *exit_code,
                               char *buffer, size_t size);

/* What dlspool's own word for an end that is not the program's doing ("TimeLimit") says of a task or a
 * job, to follow its name; NULL: the word says all. */
const char *slurm_reason_words(const char *reason);

#endif
