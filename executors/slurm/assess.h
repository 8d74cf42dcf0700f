/* executors/slurm/assess.h - determines a job's state from its records and its files
 *
 * Sends no request.  The tasks' files say how they ended; Slurm's report counts when the files say
 * nothing, and explains why they do not.
 */
#ifndef EXECUTORS_SLURM_ASSESS_H
#define EXECUTORS_SLURM_ASSESS_H

#include "executors/slurm/jobs.h"

/* A record to be cancelled, and why: goes on after "which". */
struct slurm_surplus {
    const struct slurm_record *record;
    const char *why;
    bool may_begin; /* it is held first, and cancelled when a list shows that it waits so */
};

/* What must be done about a job at Slurm, besides reporting its state. */
struct slurm_need {
    /* the record to release, since it is held and was not released, or could not be launched; or NULL */
    const struct slurm_record *release;
    struct slurm_surplus *end; /* what of the job must not run */
    size_t end_count;
    bool decide; /* `poll` is final: write it down */
};

/* Fill in `poll` for a job that Slurm has records of, or whose files tell its end (`records`
 * empty).  It writes down elements of an array that ended silently, which may fail: then the phase
 * is PHASE_UNKNOWN. */
void slurm_assess(struct slurm *slurm, struct arena *arena, struct slurm_job *job,
                  const struct slurm_records *records, struct job_poll *poll,
                  struct slurm_need *need);

/* Whether assessing requires looking at the files now. */
bool slurm_assess_needs_files(const struct slurm_job *job, const struct slurm_records *records);

#endif
