/* stages/sweep.h - which tasks of an array an attempt runs, and which of them are left
 *
 * The tasks of an attempt are numbered from 0 at the executor; job.yaml has the indexes that the
 * user gave them, in that order (`array`).  When the attempt has failed, `array_left` has those that
 * did not succeed, and the next attempt runs only these.
 */
#ifndef STAGES_SWEEP_H
#define STAGES_SWEEP_H

#include "executors/executor.h"
#include "request/description.h"
#include "spool/record.h"

/* Leave to the job of the request only what the record's attempt runs: `array`, or all where it has
 * none, which is then set.  For a job that is no array nothing happens. */
void sweep_select(struct arena *arena, struct job_record *record, struct description *description);

/* The next attempt runs what is left of the last one. */
void sweep_go_on(struct job_record *record);

/* Note what is left of a failed attempt, by what the executor says of its tasks; all of it where
 * that tells of no task that is left.  Doing it again is the same. */
void sweep_note_left(struct arena *arena, struct job_record *record, const struct job_poll *poll);

/* Append "2 of 6 tasks failed, those of the indexes 3,7"; nothing where that is not known. */
void sweep_describe(struct buffer *out, const struct job_record *record);

/* The list, cut off and ended by "..." where it is long: for a line of the log. */
struct text sweep_shortened(struct arena *arena, struct text list);

#endif
