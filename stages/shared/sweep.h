/* stages/shared/sweep.h - which tasks of an array an attempt runs, and which of them are left
 *
 * The tasks of an attempt are numbered from 0 at the executor; job.yaml has the indexes that the
 * user gave them, in that order (`array`).  When the attempt has failed, `array_left` lists the
 * tasks that did not succeed, and the next attempt runs only these.  Tasks that somebody has killed
 * (`array_killed`) do not run again by themselves: they, and tasks that are left out when only some
 * are retried by hand, go to `array_aside`, and the job has not succeeded while that is not empty.
 * Tasks that somebody holds (stages/shared/hold_tasks.h) are left out, too, in `array_held`, and
 * run once they are released.
 */
#ifndef STAGES_SHARED_SWEEP_H
#define STAGES_SHARED_SWEEP_H

#include "executors/executor.h"
#include "request/description.h"
#include "spool/record.h"

/* Reduce the job of the request to the tasks that the record's attempt runs: those of `array`, or
 * all when it is empty, which is then set.  Does nothing for a job that is no array. */
void sweep_select(struct arena *arena, struct job_record *record, struct description *description);

/* What the next attempt should run of the tasks that are left. */
struct sweep_choice {
    bool by_hand;       /* somebody requested another attempt: all that is left, */
    struct text only;   /* ... or, if that is not empty, only these */
    struct text killed; /* somebody has requested meanwhile to kill these */
    struct text held;   /* somebody holds these */
};

/* Set the next attempt to run what is left of the last one.  False when nothing is left. */
bool sweep_continue(struct arena *arena, struct job_record *record,
                    const struct sweep_choice *choice);
/* Would the attempt run nothing only because its tasks are held? */
bool sweep_waits(struct arena *arena, const struct job_record *record,
                 const struct sweep_choice *choice);
/* Does the coming attempt include tasks that are held, or leave out tasks that are no longer held? */
bool sweep_is_outdated(struct arena *arena, const struct job_record *record, struct text held);

/* Can these tasks be killed (in the running attempt, or in the next one when `waits`), retried,
 * held or released, while the tasks `held` are held?  -1 and a sentence about the job `id` when one
 * of them cannot, or when the list is invalid. */
int sweep_check_kill(const struct job_record *record, bool waits, const char *id, struct text tasks,
                     struct error *error);
int sweep_check_retry(const struct job_record *record, struct text held, const char *id,
                      struct text tasks, struct error *error);
int sweep_check_hold(const struct job_record *record, struct text held, const char *id,
                     struct text tasks, struct error *error);
int sweep_check_release(struct text held, const char *id, struct text tasks, struct error *error);

/* Note which tasks of a failed attempt are left, by what the executor reports; all of them when the
 * report names none.  Repeating it changes nothing. */
void sweep_note_left(struct arena *arena, struct job_record *record, const struct job_poll *poll);

/* Has the job not succeeded, although this attempt has?  And are held tasks all that is missing? */
bool sweep_is_incomplete(const struct job_record *record);
bool sweep_lacks_held(const struct job_record *record);
/* Did no task of the attempt fail except those that were killed? */
bool sweep_none_failed(const struct job_poll *poll);

/* The union, the difference (first without second) and the intersection of two lists.  A list
 * without tasks is the empty text. */
struct text sweep_join(struct arena *arena, struct text a, struct text b);
struct text sweep_without(struct arena *arena, struct text list, struct text others);
struct text sweep_common(struct arena *arena, struct text a, struct text b);
/* The tasks that run by themselves, or would if they were not held: those that have not succeeded
 * and were not killed or set aside. */
struct text sweep_waiting(struct arena *arena, const struct job_record *record);
/* For each task of the attempt, by its rank, whether the list contains it; *count is the number of
 * tasks. */
bool *sweep_ranks(struct arena *arena, const struct job_record *record, struct text list,
                  size_t *count);
/* The list of the user's indexes of the tasks that are marked. */
struct text sweep_list(struct arena *arena, const struct job_record *record, const bool *ranks);

/* Append "2 of 6 tasks failed, those of the indexes 3,7", and how many were killed, did not run
 * again, or are held; nothing when that is unknown. */
void sweep_describe(struct buffer *out, const struct job_record *record);

/* The list for a line of the log: a long one is cut off and ends with "...". */
struct text sweep_shortened(struct arena *arena, struct text list);

#endif
