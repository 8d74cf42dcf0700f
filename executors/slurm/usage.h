/* executors/slurm/usage.h - what jobs that have ended have used, as slurmdbd counts it
 *
 * slurmctld tells slurmdbd of each step when it ends, and of the job after them, mostly at once.  So a job that
 * has ended is kept back until slurmdbd knows its end, for SLURM_USAGE_PATIENCE at most; then it has ended without
 * figures.  Where slurmrestd serves no accounting, or slurmdbd does not answer, nothing waits.
 */
#ifndef EXECUTORS_SLURM_USAGE_H
#define EXECUTORS_SLURM_USAGE_H

#include "executors/slurm/jobs.h"

enum { SLURM_USAGE_PATIENCE = 5000, SLURM_USAGE_REST = 60000 }; /* milliseconds */

/* A job of a poll. */
struct slurm_usage_asked {
    struct job_poll *poll;
    struct slurm_job *job;
    const char *user;
    size_t
        records; /* that slurmctld has of it, all of them over; 0: it has none, or one is not over */
};

/* Fill in cpu_time and memory_peak of those that have ended; one that slurmdbd does not know yet is
 * PHASE_UNKNOWN. */
void slurm_usage_add(struct slurm *slurm, struct arena *arena, struct slurm_usage_asked *asked,
                     size_t count);

#endif
