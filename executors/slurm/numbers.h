/* executors/slurm/numbers.h - whether a job's number has been another's before
 *
 * slurmctld counts up.  When it gives a number that it has given before, it has lost jobs.  The
 * node that the lost job of this number ran on still takes it to be running there, even after it
 * has ended, because slurmctld never told it to clean up; a second job of the number cannot be
 * launched on it, and Slurm drains the node ("Duplicate jobid").  So no job of ours is let go under
 * a number that one of ours may have had: it is given back, and handed in again, until slurmctld
 * has come to numbers that are new.
 *
 * A number that lies far behind was not lost: Slurm's numbers began again, because they came to
 * MaxJobId, slurmctld's state was wiped, or it is another cluster.  Then they are counted from
 * there.
 *
 * The largest number that one of our jobs had is kept in a file of slurm.directory, `.largest`.
 */
#ifndef EXECUTORS_SLURM_NUMBERS_H
#define EXECUTORS_SLURM_NUMBERS_H

#include "executors/slurm/inside.h"

/* How often a job is given back; after that it is let go under any number.  Each costs Slurm a
 * cancelled job. */
enum { SLURM_GIVEN_BACK_MOST = 16 };

/* The largest by now.  What is handed in from here on gets larger numbers, in whatever order the
 * answers come, unless slurmctld has lost some. */
int64_t slurm_numbers_mark(struct slurm *slurm);

/* A job that was handed in after `mark` has got that number: true when none of ours can have had
 * it, or when Slurm counts again. */
bool slurm_numbers_take(struct slurm *slurm, int64_t mark, int64_t number);

/* One of ours has that number: elements of an array get theirs only when they begin. */
void slurm_numbers_note(struct slurm *slurm, int64_t number);

/* Write the largest down, if it has changed. */
void slurm_numbers_keep(struct slurm *slurm);

#endif
