/* stages/shared/sweep.h - which tasks of an array an attempt runs, and which of them are left
 *
 * The tasks of an attempt are numbered from 0 at the executor; job.yaml has the indexes that the
 * user gave them, in that order (`array`).  When the attempt has failed, `array_left` has those that
 * did not succeed, and the next attempt runs only these.  Those that somebody has killed
 * (`array_killed`) do not run again by themselves: they, and what is left out when some are retried by
 * hand, go to `array_aside`, and as long as there are any the job has not succeeded.  Those that somebody
 * holds (stages/shared/hold_tasks.h) are left out, too, in `array_held`, and run once they are released.
 */
#ifndef STAGES_SHARED_SWEEP_H
#define STAGES_SHARED_SWEEP_H

#include "executors/executor.h"
#include "request/description.h"
#include "spool/record.h"

/* Leave to the job of the request only what the record's attempt runs: `array`, or all where it has
 * none, which is then set.  For a job that is no array nothing happens. */
void sweep_select(struct arena *arena, struct job_record *record, struct description *description);

/* What the next attempt is to run of what is left. */
struct sweep_choice {
    bool by_hand;       /* somebody asked for another attempt: all that is left, */
    struct text only;   /* ... or, if that is not empty, only these */
    struct text killed; /* somebody has asked for these to be killed meanwhile */
    struct text held;   /* somebody holds these */
};

/* The next attempt runs what is left of the last one.  False when that is nothing. */
bool sweep_go_on(struct arena *arena, struct job_record *record, const struct sweep_choice *choice);
/* Does nothing run only because tasks are held that would? */
bool sweep_waits(struct arena *arena, const struct job_record *record,
                 const struct sweep_choice *choice);
/* Does the attempt that is to come run what is held, or not run what is not held any more? */
bool sweep_is_outdated(struct arena *arena, const struct job_record *record, struct text held);

/* Can these tasks be killed, in the attempt that runs, or in the next one (`waits`), be retried, held, or
 * released, where `held` are?  -1 and a sentence about the job `id` when one of them cannot, or it is no
 * list. */
int sweep_check_kill(const struct job_record *record, bool waits, const char *id, struct text tasks,
                     struct error *error);
int sweep_check_retry(const struct job_record *record, struct text held, const char *id,
                      struct text tasks, struct error *error);
int sweep_check_hold(const struct job_record *record, struct text held, const char *id,
                     struct text tasks, struct error *error);
int sweep_check_release(struct text held, const char *id, struct text tasks, struct error *error);

/* Note what is left of a failed attempt, by what the executor says of its tasks; all of it where
 * that tells of no task that is left.  Doing it again is the same. */
void sweep_note_left(struct arena *arena, struct job_record *record, const struct job_poll *poll);

/* Has the job not succeeded, although this attempt has?  And is all that it lacks what was held? */
bool sweep_is_incomplete(const struct job_record *record);
bool sweep_lacks_held(const struct job_record *record);
/* Has no task of the attempt failed but those that were killed? */
bool sweep_none_failed(const struct job_poll *poll);

/* Both lists as one; what only the first has; and what both have.  A list of nothing is empty. */
struct text sweep_join(struct arena *arena, struct text a, struct text b);
struct text sweep_without(struct arena *arena, struct text list, struct text others);
struct text sweep_common(struct arena *arena, struct text a, struct text b);
/* What is to run by itself, or would if nothing was held: what has not succeeded, and was not killed or set
 * aside. */
struct text sweep_waiting(struct arena *arena, const struct job_record *record);
/* Of each task of the attempt, by its rank, whether the list has it; how many tasks there are in *count. */
bool *sweep_ranks(struct arena *arena, const struct job_record *record, struct text list,
                  size_t *count);
/* The list of the user's indexes of those. */
struct text sweep_list(struct arena *arena, const struct job_record *record, const bool *ranks);

/* Append "2 of 6 tasks failed, those of the indexes 3,7", and how many were killed, did not run again, or
 * are held; nothing where that is not known. */
void sweep_describe(struct buffer *out, const struct job_record *record);

/* The list, cut off and ended by "..." where it is long: for a line of the log. */
struct text sweep_shortened(struct arena *arena, struct text list);

#endif
