/* executors/completion.h - when the tasks of several roles make an ended job
 *
 * The rule has an entry for each role that it says something of:
 *
 *   {"worker": {"failed": 1, "succeeded": 2}, "ps": {"failed": 1}}
 *
 * A job has failed when any role has `failed` failed tasks (default 1; -1: any number may fail).
 * It has succeeded when any role that says `succeeded` has that many succeeded tasks; or when all
 * tasks of all roles have ended, and no role has as many failures as it takes.  Failure goes before
 * success where both came about between two looks.  (OpenPAI's rule, minFailedInstances and
 * minSucceededInstances.)
 *
 * A role may say `each: true` instead: its tasks are judged each by itself.  One that fails ends
 * nothing; when all tasks of all roles have ended, the job has failed if any of them has, by the
 * failed one of the smallest index.  A task that somebody has killed has failed, and decides only
 * where no other has.
 *
 * A task that has been told to end is a task that ended: what it ended with counts only for as long
 * as the job has not ended, so the caller decides once and does not ask again.
 */
#ifndef EXECUTORS_COMPLETION_H
#define EXECUTORS_COMPLETION_H

#include <stdbool.h>

#include "executors/executor.h"

enum completion_state { COMPLETION_RUNNING, COMPLETION_SUCCEEDED, COMPLETION_FAILED };

/* What is asked of one role. */
struct completion_role {
    struct text role;
    int failed;    /* the number of failures that fails the job; -1: none does; 0: 1 */
    int succeeded; /* the number of successes that is enough; 0 or -1: all tasks */
    bool each;     /* each task is judged by itself; then the others are 0 */
};

struct completion_rule {
    struct completion_role *roles; /* roles that are not here have the defaults */
    size_t count;
};

struct completion_outcome {
    enum completion_state state;
    const struct task_state *decider; /* the task that decided: for a failure the one that made
                                           the number full; else the last one that was counted, or
                                           NULL (still running, or no task at all) */
    bool each;                        /* ... it failed, and the tasks are judged each by itself */
};

/* Read a rule from its JSON text (empty: no rule, the defaults) or its tree (NULL: the same).  In
 * the arena; NULL and a sentence on failure. */
struct completion_rule *completion_read(struct arena *arena, struct text json, struct error *error);
struct completion_rule *completion_of(struct arena *arena, const struct value *tree,
                                      struct error *error);

/* `tasks` are all that are known, in any order; `total` is how many the job has in all (those that
 * are not among them have not ended).  `rule` may be NULL. */
struct completion_outcome completion_judge(const struct completion_rule *rule,
                                           const struct task_state *tasks, size_t count,
                                           size_t total);

#endif
