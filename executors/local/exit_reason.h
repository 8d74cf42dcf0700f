/* executors/local/exit_reason.h - why a task ended
 *
 * podman knows only an exit code.  Its reason follows from the labels (a time limit), from the
 * kernel's log (memory), and from what the container's first process printed (a command that could
 * not be started).  The reasons are those of task_state in executor.h.
 */
#ifndef EXECUTORS_LOCAL_EXIT_REASON_H
#define EXECUTORS_LOCAL_EXIT_REASON_H

#include "executors/local/inside.h"

/* For all tasks of one poll: the kernel's log is read once, when it is first needed.  Start with
 * only `local` set; exit_reason_clear() ends it. */
struct exit_reason {
    struct local *local;
    struct buffer kills;
    bool kills_read;
};

/* Fill in exit code and reason of an ended task, whose role and index are set; `detail` becomes
 * the sentence about a failure, or "". */
void exit_reason_explain(struct exit_reason *exit_reason, const struct podman_container *container,
                         struct task_state *task, char *detail, size_t size);
void exit_reason_clear(struct exit_reason *exit_reason);

#endif
