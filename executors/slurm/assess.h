/* executors/slurm/assess.h - how a job fares, by its records and its files
 *
 * Asks nobody.  What tasks ended with is what their files say; what Slurm says counts where they
 * say nothing, and for why they could not.
 */
#ifndef EXECUTORS_SLURM_ASSESS_H
#define EXECUTORS_SLURM_ASSESS_H

#include "executors/slurm/jobs.h"

/* What must be done at Slurm about a job, besides reporting its state. */
struct slurm_need {
    const struct slurm_record *release; /* it is held, and was not let go: let it go; or NULL */
    const struct slurm_record **end;    /* there twice: end these */
    size_t end_count;
    bool decide; /* write down what `poll` says: it is final */
};

/* Fill in `poll` for a job that Slurm has records of, or whose files tell its end (`records`
 * empty). Elements of an array that ended silently are written down, so this may fail: then the
 * phase is PHASE_UNKNOWN. */
void slurm_assess(struct slurm *slurm, struct arena *arena, struct slurm_job *job,
                  const struct slurm_records *records, struct job_poll *poll,
                  struct slurm_need *need);

/* Whether the files have to be looked at now for that. */
bool slurm_assess_needs_files(const struct slurm_job *job, const struct slurm_records *records);

#endif
