/* executors/slurm/table.h - what Slurm knows of our jobs, by one list for all
 *
 * The list is asked for with `update_time`: slurmctld's own clock at the list before (GET diag), so
 * that it need not be sent when nothing has changed.  With a token for each user there is a list
 * for each, since a site may hide jobs from others (PrivateData), and a job that is not seen looks
 * forgotten.
 */
#ifndef EXECUTORS_SLURM_TABLE_H
#define EXECUTORS_SLURM_TABLE_H

#include "executors/slurm/inside.h"

/* Ask again, as `user` (NULL or "" where users do not differ).  -1 and a sentence: then nothing is
 * known.
 */
int slurm_table_refresh(struct slurm *slurm, const char *user, struct error *error);

/* The records of a job as of the last refresh for that user; those of other users are left out
 * where the job's user is known and jobs run as their owners. */
struct slurm_records slurm_table_find(const struct slurm *slurm, const char *user, const char *id,
                                      int attempt);

/* All of that user's list, or NULL before the first. */
const struct slurm_records *slurm_table_all(const struct slurm *slurm, const char *user);

/* slurmctld's clock at that user's last refresh, in milliseconds; 0: not known. */
int64_t slurm_table_clock(const struct slurm *slurm, const char *user);

void slurm_table_free(struct slurm_table *table); /* NULL is fine */

#endif
