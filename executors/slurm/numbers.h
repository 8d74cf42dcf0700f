/* executors/slurm/numbers.h - detects job numbers that Slurm gives a second time
 *
 * slurmctld numbers jobs upwards.  When it gives a number again, it has lost jobs.  The node on
 * which the lost job of this number ran believes that it still runs, even after it has ended,
 * because slurmctld never told the node to clean up; a second job of that number cannot be launched
 * there, and Slurm drains the node ("Duplicate jobid").  So dlspool never releases a job under a
 * number that one of its jobs may have had: the job is cancelled and submitted again until
 * slurmctld reaches new numbers.
 *
 * Before a job is submitted it is not known which number it will get.  Numbers are in no doubt when
 * slurmctld is the same process as when one of its numbers was seen to be larger than all before:
 * then a job may be submitted so that it begins at once.  `diag` tells when slurmctld began to count
 * (req_time_start): when it started, when somebody had it count anew (`sdiag -r`), or at midnight.
 * So the same time means the same process, and another one only that numbers are in doubt.
 *
 * A number far below the largest does not mean lost jobs: Slurm's numbering restarted, because it
 * reached MaxJobId, slurmctld's state was wiped, or it is another cluster.  Then the largest is
 * counted from there.
 *
 * The largest number that one of our jobs had is kept in a file of slurm.directory, `.largest`, with
 * that time behind it.  Submit and track write it, each under a lock (F_OFD_SETLK) and after it has read what the
 * other wrote: so it falls only when the numbering restarted.
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

/* When the slurmctld began to count that answers now, asked as `user`, in seconds; 0 when that is unknown,
 * or not yet certain to differ from that of another process. */
int64_t slurm_numbers_ask_giver(struct slurm *slurm, const char *user);

/* Does that slurmctld give larger numbers than slurm_numbers_mark() has told?  False for 0. */
bool slurm_numbers_are_sure(const struct slurm *slurm, int64_t giver);

/* That slurmctld has: it answered before a job was submitted whose number is larger. */
void slurm_numbers_trust(struct slurm *slurm, int64_t giver);

/* Write down the largest, and who gives larger ones, if either has changed.  While another process writes, and where
 * that fails, it is left to the next time. */
void slurm_numbers_keep(struct slurm *slurm);

#endif
