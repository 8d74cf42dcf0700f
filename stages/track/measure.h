/* stages/track/measure.h - measures the progress and speed of a running job from what it prints or
 * writes
 *
 * The track stage has one struct measure for each job that the executor runs.  Units done are found
 * in the lines that the first task prints (record.units_pattern, as copied to output/), or in a
 * file that the job writes (record.units_file).  Both are untrusted: each look reads a bounded
 * number of bytes, lines may be of any length, and numbers may be anything, go back to a
 * checkpoint, or never come.  From them, the times of the looks and the poll's processor time comes
 * <id>/progress (spool/progress_file.h), which is written at most every five seconds (every minute
 * for a job that is not counted), and when a size changes.
 *
 * A job without units is measured, too: how long it ran at which size, and what it used.
 *
 * Times: of day by the caller's clock for what is written; intervals are of the monotonic clock.
 */
#ifndef STAGES_TRACK_MEASURE_H
#define STAGES_TRACK_MEASURE_H

#include "executors/executor.h"
#include "spool/progress_file.h"
#include "spool/record.h"

struct measure;

/* A job of submitted/ that this process has not met before in this attempt.  Earlier measurements
 * are taken from its progress file; nothing else is read.  `job` is -1 when it has none, since it has never run.  Never
 * NULL.  The record may be freed afterwards. */
struct measure *measure_new(int job, const struct job_record *record);
void measure_free(struct measure *measure); /* NULL is fine */

/* Measure, after each copy of the job's output (and before the job is moved), with what the
 * executor reported.  Does nothing while the job waits.  A failure to read or write is logged once,
 * and never stops anything. */
void measure_update(struct measure *measure, int job, const struct job_poll *poll);

/* The job has that size from now on: the executor has granted a request made at `asked` (time of
 * day; 0: unknown) while the job runs.  Setting the size that it already has changes nothing. */
void measure_resized(struct measure *measure, int64_t size, int64_t asked);

/* The attempt has ended: read all remaining output (bounded), and write the progress, for
 * history_format().  Can be called again after a crash.  Where there is no progress file yet, and all that is known
 * is how long it ran, which its log says, nothing is written.  -1 and a sentence when it cannot be written. */
int measure_ended(struct measure *measure, int job, const struct job_poll *poll,
                  struct error *error);

/* The measurements; valid until the next call.  Units done are as of the last look. */
const struct progress *measure_progress(const struct measure *measure);

/* Are all its units known to be done?  False when the job has no units or their total is unknown. */
bool measure_complete(const struct measure *measure);

#endif
