/* executors/slurm/numbers.h - detects job numbers that Slurm gives a second time
 *
 * slurmctld numbers jobs upwards.  When it gives a number again, it has lost jobs.  The node on
 * which the lost job of this number ran believes that it still runs, even after it has ended,
 * because slurmctld never told the node to clean up; a second job of that number cannot be launched
 * there, and Slurm drains the node ("Duplicate jobid").  So dlspool never releases a job under a
 * number that one of its jobs may have had: the job is cancelled and submitted again until
 * slurmctld reaches new numbers.
 *
 * A number far below the largest does not mean lost jobs: Slurm's numbering restarted, because it
 * reached MaxJobId, slurmctld's state was wiped, or it is another cluster.  Then the largest is
 * counted from there.
 *
 * The largest number that one of our jobs had is kept in a file of slurm.directory, `.largest`.
 */
#ifndef EXECUTORS_SLURM_NUMBERS_H
#define EXECUTORS_SLURM_NUMBERS_H

#include "executors/slurm/inside.h"

/* How often a job with a reused number is cancelled and submitted again; after that it is released under
 * any number.  Each time costs Slurm a cancelled job. */
enum { SLURM_DROPPED_NUMBERS_MOST = 16 };

/* The largest number so far.  Jobs that are submitted from now on get larger numbers, in whatever
 * order the answers come, unless slurmctld has lost some. */
int64_t slurm_numbers_mark(struct slurm *slurm);

/* A job that was submitted after `mark` got that number: true when none of dlspool's jobs can have
 * had it, or when Slurm's numbering restarted. */
bool slurm_numbers_take(struct slurm *slurm, int64_t mark, int64_t number);

/* One of dlspool's jobs has that number: elements of an array get theirs only when they begin. */
void slurm_numbers_note(struct slurm *slurm, int64_t number);

/* Write down the largest, if it has changed. */
void slurm_numbers_keep(struct slurm *slurm);

#endif
