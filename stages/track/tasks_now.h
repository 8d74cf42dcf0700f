/* stages/track/tasks_now.h - writes down what the executor says of a job's tasks, as it changes
 *
 * Two things: how many tasks wait, run and have ended, with the job's name and state at the
 * scheduler, in <id>/tasks (spool/tasks_file.h); and in the log an event `lost` for each task that
 * has failed while its job goes on without it, as one of an elastic job does, and `returned` when it
 * runs again.  Of an array, whose tasks are independent, the file says which they are instead.
 */
#ifndef STAGES_TRACK_TASKS_NOW_H
#define STAGES_TRACK_TASKS_NOW_H

#include "executors/executor.h"

struct tasks_now;

/* Write what the poll reports and is not written yet: lost tasks at once; the numbers once a second at
 * most, and at the end.  What cannot be written is tried again.  *now is NULL at first; the caller frees
 * it with tasks_now_free(). */
void tasks_now_note(struct tasks_now **now, int job, const struct job_poll *poll, bool array);

/* What the log says of lost tasks of that attempt, from before a restart.  NULL: nothing. */
struct tasks_now *tasks_now_recall(struct text log, int attempt);

void tasks_now_free(struct tasks_now *now); /* NULL is fine */

#endif
