/* executors/slurm/jobs.h - what is remembered of each job between two looks at it
 *
 * Everything here can be read again from the job's directory; what was decided is written down
 * there before anybody is told.
 */
#ifndef EXECUTORS_SLURM_JOBS_H
#define EXECUTORS_SLURM_JOBS_H

#include "executors/slurm/job.h"

struct slurm_jobs;

/* The job of that name, with what was handed in, if it can be read now.  NULL and a sentence when
 * it cannot be read, though it may be there.  Valid until it is forgotten. */
struct slurm_job *slurm_jobs_find(struct slurm *slurm, const char *id, int attempt,
                                  struct error *error);
void slurm_jobs_forget(struct slurm *slurm, const char *name);
void slurm_jobs_free(struct slurm_jobs *jobs); /* NULL is fine */

/* Write down how the job has ended, before its tasks have.  -1 and a sentence: it is not decided.
 */
int slurm_job_decide(struct slurm *slurm, struct slurm_job *job, const struct job_poll *poll,
                     struct error *error);

/* Write down that an element has ended without saying so itself. */
int slurm_job_note_element(struct slurm *slurm, struct slurm_job *job, struct slurm_task *task,
                           int exit_code, const char *reason, struct error *error);

#endif
