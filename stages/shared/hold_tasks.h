/* stages/shared/hold_tasks.h - tasks of an array that are held until somebody releases them
 *
 * The file `hold-tasks` in a job's directory has a line for each request, with those of its tasks
 * that are still held.  Only intake writes it.  A held task is left out when an attempt is rendered
 * (stages/shared/sweep.h); a job that has no other tasks left waits in held/.  The job's owner
 * cannot release tasks that an administrator holds.
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

/* 1: there are some; 0: there are none; -1: it cannot be determined now.  A damaged line is
 * ignored. */
int hold_tasks_pending(int job, struct arena *arena, struct held_tasks *held);

/* Are there any, or can that not be determined now? */
bool hold_tasks_any(int job);

/* Hold the tasks, which were checked to be holdable, and write the event.  0; 1 and a sentence when
 * there are too many requests already; -1 and a sentence when it must be retried. */
int hold_tasks_add(int job, struct text tasks, const struct control_request *by,
                   struct error *error);

/* The person who requests that tasks be released. */
struct releaser {
    const char *id; /* of the job */
    uid_t owner;
    bool administrator;
    struct control_request by;
};

/* Release the tasks, or all when `tasks` is empty.  0; 1 and a sentence when somebody else holds
 * some of them; -1 and a sentence when it must be retried.  No event is written. */
int hold_tasks_release(int job, struct text tasks, const struct releaser *releaser,
                       struct error *error);

#endif
