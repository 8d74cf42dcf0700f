/* spool/tasks_file.h - <id>/tasks: what the executor says of a submitted job and its tasks
 *
 * The track stage replaces it as a whole while the job is submitted, when what it says has changed.
 * It is not synced, since the executor can be asked again, and is there only where it says more than
 * the log: of a job of several tasks, or of a scheduler that has a name and a state for it.  It stays
 * with the job after its end.  Commands read it; nothing is decided by it.  A line as in <id>/log;
 * described in docs/spool.md.
 */
#ifndef SPOOL_TASKS_FILE_H
#define SPOOL_TASKS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

struct tasks_file {
    int64_t time;             /* time of day of the answer */
    int attempt;              /* of the job; 0: nothing is known */
    char scheduler_id[64];    /* its name at the scheduler; or "" */
    char scheduler_state[32]; /* its state there, in the scheduler's own word; or "" */
    int waiting, running;     /* tasks that have not started, and those that run */
    int succeeded, failed;    /* those that have ended */
    /* Of an array, which these are, by their numbers in this attempt: lists for base/ranges.h.  Empty of other
     * jobs, and where that is not known. */
    struct text which_waiting, which_running, which_succeeded, which_failed;
};

/* Do they say the same, whenever they say it? */
bool tasks_file_same(const struct tasks_file *first, const struct tasks_file *second);

int tasks_file_total(const struct tasks_file *tasks);

/* Read it from the job directory `job`; its texts are in the arena.  1: there is none; -1 and a sentence when it
 * is damaged or cannot be read.  *tasks is filled in every case. */
int tasks_file_read(int job, struct arena *arena, struct tasks_file *tasks, struct error *error);
int tasks_file_write(int job, const struct tasks_file *tasks, struct error *error);

#endif
