/* executors/slurm/jobs.h - what is remembered about each job between two polls
 *
 * Everything here can be read again from the job's directory; decisions are written there before
 * they are reported.
 */
#ifndef EXECUTORS_SLURM_JOBS_H
#define EXECUTORS_SLURM_JOBS_H

#include "executors/slurm/job.h"

struct slurm_jobs;

/* The job of that name, with what was submitted, if that can be read now.  NULL and a sentence when
 * it cannot be read, although it may exist.  Valid until the job is forgotten. */
struct slurm_job *slurm_jobs_find(struct slurm *slurm, const char *id, int attempt,
                                  struct error *error);
void slurm_jobs_forget(struct slurm *slurm, const char *name);
void slurm_jobs_free(struct slurm_jobs *jobs); /* NULL is fine */

/* Write down how the job has ended, before its tasks have.  -1 and a sentence: then it is not
 * decided.
 */
int slurm_job_decide(struct slurm *slurm, struct slurm_job *job, const struct job_poll *poll,
                     struct error *error);

/* Write down that an element has ended without saying so itself. */
int slurm_job_note_element(struct slurm *slurm, struct slurm_job *job, struct slurm_task *task,
                           int exit_code, const char *reason, struct error *error);

#endif
