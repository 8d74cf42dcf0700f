/* commands/await_tasks.h - wait for single tasks of an array, as `wait sweep/3` does */
#ifndef COMMANDS_AWAIT_TASKS_H
#define COMMANDS_AWAIT_TASKS_H

#include "commands/follow_jobs.h"
#include "base/text.h"

/* Wait until these tasks of the job, a list of indexes, have ended: they are done, or have failed and are not
 * tried again by themselves.  Prints the end of each.  The exit status as follow_jobs() has it, where
 * `exit_status` is that of the first task that failed; a task that the job does not have is STATUS_NOT_FOUND. */
int await_tasks(const struct spool *spool, const char *id, struct text list,
                const struct follow_options *options);

#endif
