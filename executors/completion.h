/* executors/completion.h - when a job has ended, by the ends of its tasks
 *
 * The rule has an entry for each role that differs from the defaults:
 *
 *   {"worker": {"failed": 1, "succeeded": 2}, "ps": {"failed": 1}}
 *
 * A job has failed when any role has `failed` failed tasks (default 1; -1: any number may fail).
 * It has succeeded when any role that says `succeeded` has that many succeeded tasks; or when all
 * tasks of all roles have ended, and no role has reached its `failed`.  Where a failure and a
 * success are found at the same time, the job has failed.  (OpenPAI's rule, minFailedInstances and
 * minSucceededInstances.)
 *
 * A role may say `each: true` instead: its tasks are independent.  A failed one does not end the
 * job; when all tasks of all roles have ended, the job has failed if any of them has, and the failed
 * one of the smallest index is the decider.  A task that somebody killed has failed, and is the
 * decider only when no other task has failed.
 *
 * `again: N` beside `failed` asks for something else: while the job goes on, a failed task of the role
 * is to be started again, each at most N times; not the one of index 0, at which the others meet (but on
 * Kubernetes, where a Job treats all its indexes alike, and the name leads to the new pod).  On Slurm the
 * script does it, and the executor sees it.
 *
 * A task that was told to end counts like any other.  So the caller asks only until the job has
 * ended: the tasks that it stops afterwards would change the result.
 */
#ifndef EXECUTORS_COMPLETION_H
#define EXECUTORS_COMPLETION_H

#include <stdbool.h>

#include "executors/executor.h"

enum completion_state { COMPLETION_RUNNING, COMPLETION_SUCCEEDED, COMPLETION_FAILED };

/* The rule for one role. */
struct completion_role {
    struct text role;
    int failed;    /* failures that fail the job; -1: no number does; 0: 1 */
    int succeeded; /* successes that end the job; 0 or -1: those of all tasks */
    int again;     /* how often a failed task is started again while the job goes on; 0: never */
    bool each;     /* its tasks are independent; then the others are 0 */
};

struct completion_rule {
    struct completion_role *roles; /* roles that are not here have the defaults */
    size_t count;
};

struct completion_outcome {
    enum completion_state state;
    const struct task_state
        *decider; /* the task whose end ended the job; NULL when it still runs, or
                                           has no task */
    bool each;    /* it has failed by a task of a role with `each` */
};

/* Read a rule from its JSON text (empty: no rule, the defaults) or its tree (NULL: the same).  In
 * the arena; NULL and a sentence on failure. */
struct completion_rule *completion_read(struct arena *arena, struct text json, struct error *error);
struct completion_rule *completion_of(struct arena *arena, const struct value *tree,
                                      struct error *error);

/* Are failed tasks of any role started again? */
bool completion_has_again(const struct completion_rule *rule);
/* How often a failed task of that role and index is started again while the job goes on. */
int completion_again(const struct completion_rule *rule, const char *role, int index);

/* `tasks` are all known tasks, in any order; `total` is the job's number of tasks (those not in
 * `tasks` have not ended).  `rule` may be NULL. */
struct completion_outcome completion_judge(const struct completion_rule *rule,
                                           const struct task_state *tasks, size_t count,
                                           size_t total);

#endif
