/* executors/slurm/table.h - what Slurm knows about dlspool's jobs, from one list for all
 *
 * The list is requested with `update_time`, slurmctld's own clock at the previous list (GET diag),
 * so that it is not sent when nothing has changed.  With a token for each user there is a list for
 * each, since a site may hide jobs from other users (PrivateData), and an invisible job looks
 * forgotten.
 */
#ifndef EXECUTORS_SLURM_TABLE_H
#define EXECUTORS_SLURM_TABLE_H

#include "executors/slurm/inside.h"

/* Request the list again, as `user` (NULL or "" when there is one list for all).  -1 and a
 * sentence: then nothing is known.
 */
int slurm_table_refresh(struct slurm *slurm, const char *user, struct error *error);

/* The same, unless the list is no older than `age`, in milliseconds. */
int slurm_table_refresh_older(struct slurm *slurm, const char *user, int64_t age,
                              struct error *error);

/* Is the list of that user to be left alone for now?  On a large or a busy cluster it may take a second, and so much of
 * slurmctld's time: then it is requested during a tenth of the time at most, and half as often while there are
 * single jobs to ask about, which would have to wait for it; but once a minute however long it takes. */
bool slurm_table_rests(const struct slurm *slurm, const char *user, bool asks);

/* A job that is asked about by its number, as of the list or of its files. */
struct slurm_question {
    const char *user; /* whose list is brought up to date */
    const char *id;
    int attempt;
    int64_t number;
};

/* Ask about single jobs, and put what is answered in the place of their records.  Where there is no
 * answer, or none about this job, these stay as they are. */
void slurm_table_ask(struct slurm *slurm, const struct slurm_question *questions, size_t count);

/* The records of a job as of the last refresh for that user; those of other users are left out
 * where the job's user is known and jobs run as their owners. */
struct slurm_records slurm_table_find(const struct slurm *slurm, const char *user, const char *id,
                                      int attempt);

/* The whole list of that user, or NULL before the first. */
const struct slurm_records *slurm_table_all(const struct slurm *slurm, const char *user);

/* slurmctld's clock at that user's last refresh, in milliseconds; 0: not known. */
int64_t slurm_table_clock(const struct slurm *slurm, const char *user);

void slurm_table_free(struct slurm *slurm); /* all lists */

#endif
