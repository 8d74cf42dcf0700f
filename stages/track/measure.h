/* stages/track/measure.h - how far a running job is, and how fast: measured from what it prints or writes
 *
 * The track stage has one struct measure for each job that the executor runs.  Units done are found
 * in the lines that the first task prints (record.units_pattern, as copied to output/), or in a file
 * that the job writes (record.units_file).  Both are written by strangers: what a look reads is
 * bounded, lines may be of any length, and numbers may be anything, go back to a checkpoint, or never
 * come.  From them, the times of the looks and the poll's processor time comes <id>/progress
 * (spool/progress_file.h), which is written at most every five seconds (every minute for a job that is not
 * counted), and when a size changes.
 *
 * A job that is not counted is measured too: how long it ran at which size, and what it used there.
 *
 * Times: of day by the caller's clock for what is written; intervals are of the monotonic clock.
 */
#ifndef STAGES_TRACK_MEASURE_H
#define STAGES_TRACK_MEASURE_H

#include "executors/executor.h"
#include "spool/progress_file.h"
#include "spool/record.h"

struct measure;

/* A job of submitted/ that this process has not met before in this attempt.  What was measured before
 * is taken up from its progress file; nothing is read but that.  Never NULL.  The record need not
 * live on. */
struct measure *measure_new(int job, const struct job_record *record);
void measure_free(struct measure *measure); /* NULL is fine */

/* Look: after each copy of the job's output (and before it is moved), with what the executor said of
 * it.  Does nothing while it waits.  What cannot be read or written is said in the log of the
 * process, once; it never stops anything. */
void measure_look(struct measure *measure, int job, const struct job_poll *poll);

/* From now on it has that size: the executor has granted in place what was asked for at `asked` (time
 * of day; 0: not known).  The size that it has already changes nothing. */
void measure_resized(struct measure *measure, int64_t size, int64_t asked);

/* The attempt has ended: all output that is left is read (bounded), and progress is written, for
 * history_add().  Can be called again after a crash.  -1 and a sentence when it cannot be written. */
int measure_ended(struct measure *measure, int job, const struct job_poll *poll,
                  struct error *error);

/* What is known; valid until the next call.  Units done are as of the last look. */
const struct progress *measure_progress(const struct measure *measure);

/* Have all its units been seen to be done?  False when it is not counted or its total is not known. */
bool measure_complete(const struct measure *measure);

#endif
