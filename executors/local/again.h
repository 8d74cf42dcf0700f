/* executors/local/again.h - starts again the tasks that a job has lost and goes on without
 *
 * The job's rule decides whether (`again`, completion.h); that of an elastic job does.  A task that has failed
 * rests for a while first: a cause that makes the other tasks fail, too, then ends the job instead.  The same
 * container is started, with what it has written, its devices and its mounts, if its resources are free and
 * another task of the job runs.  Its log goes on.
 *
 * podman counts the time limit of a container from its last start; so a task that was started
 * again is killed here when the job's time is over, counted from its first start.  Shortly before that none is
 * started.
 *
 * Known weakness: how often a task was started again is kept in memory only; after a restart of dlspool it
 * is counted anew.
 */
#ifndef EXECUTORS_LOCAL_AGAIN_H
#define EXECUTORS_LOCAL_AGAIN_H

#include "executors/completion.h"
#include "executors/local/inside.h"

/* A job that goes on: its containers, in any order. */
struct local_again {
    const struct completion_rule *rule;
    struct podman_container **tasks;
    size_t count;
};

/* Start what is due, and end what is overdue; note the results in the containers.  False when nothing was
 * started. */
bool local_again_start(struct local *local, struct arena *arena, const struct local_again *jobs,
                       size_t count);

#endif
