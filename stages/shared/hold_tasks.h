/* stages/shared/hold_tasks.h - tasks of an array that wait until somebody releases them
 *
 * The file `hold-tasks` in a job's directory has a line for each request, with those of its tasks
 * that are still held.  Only intake writes it.  A task that is held is left out when an attempt is
 * rendered (stages/shared/sweep.h); a job of which nothing else is left waits in held/.  What an
 * administrator has held its owner cannot release.
 */
#ifndef STAGES_SHARED_HOLD_TASKS_H
#define STAGES_SHARED_HOLD_TASKS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "stages/shared/control_file.h"

struct held_tasks {
    struct text tasks; /* a list for base/ranges.h, in the arena; empty: none is held */
    struct control_request request; /* who asked last */
};

/* 1: there are some; 0: there are none; -1: it cannot be told now.  A damaged line is none. */
int hold_tasks_pending(int job, struct arena *arena, struct held_tasks *held);

/* Are there any, or can that not be told now? */
bool hold_tasks_any(int job);

/* Hold them, for which it was found that they can be: write the event, too.  0; 1 and a sentence
 * when there are too many requests already; -1 and a sentence when it must be retried. */
int hold_tasks_add(int job, struct text tasks, const struct control_request *by,
                   struct error *error);

/* Whoever asks for tasks to be let go. */
struct releaser {
    const char *id; /* of the job */
    uid_t owner;
    bool administrator;
    struct control_request by;
};

/* They are held no longer; all, where `tasks` is empty.  0; 1 and a sentence when somebody else
 * holds some of them; -1 and a sentence when it must be retried.  No event is written. */
int hold_tasks_release(int job, struct text tasks, const struct releaser *releaser,
                       struct error *error);

#endif
