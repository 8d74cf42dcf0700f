/* executors/local/turns.h - jobs whose tasks take turns: at most `parallelism` run at once
 *
 * All containers of such a job are made when it is submitted, and its first tasks are started; the
 * others wait as containers that were never started.  Each poll of the job starts the next ones, in
 * the order of role and index, as others end and capacity is free.  So podman alone knows the job's
 * progress, and after any crash the next poll continues from there.
 *
 * A container that has ever run is not started again: podman reports when it was started, even
 * after a restart of the machine.  A container that was running when the machine restarted has
 * ended, with an unknown exit code.
 *
 * A task that takes another's turn also takes its devices, since a container's devices are fixed
 * when it is made: the N-th task has those of the task N - parallelism.
 *
 * A task that podman refuses to start has failed.  This is kept in memory only: after a restart of
 * dlspool it is tried once more.
 */
#ifndef EXECUTORS_LOCAL_TURNS_H
#define EXECUTORS_LOCAL_TURNS_H

#include "executors/local/inside.h"

/* The containers of one such job, in any order. */
struct local_turns {
    struct podman_container **tasks;
    size_t count;
    int64_t parallelism; /* from 1 */
};

/* Has the container ended although podman does not say so?  Then set its state to
 * PODMAN_STATE_ENDED. */
void local_turns_settle(const struct local *local, struct podman_container *container);

/* Start, for all jobs at the same time, the tasks that may run and fit, and note the results in the
 * containers.  Nothing is started while another process counts the containers. */
void local_turns_start(struct local *local, struct arena *arena, struct local_turns *jobs,
                       size_t count);

/* Start these containers, which have ended, once more, holding what they mount meanwhile; note the results
 * in the containers.  The caller holds the lock, and has seen that there is room. */
void local_turns_start_ended(struct local *local, struct arena *arena,
                             struct podman_container **tasks, size_t count);

/* The lock that a process holds from counting the containers until it has made or started its own,
 * so that two processes do not allocate the same capacity.  Waits up to `patience` milliseconds for
 * it.  Returns a descriptor for local_turns_release(), which accepts -1, too; -1 when the lock
 * could not be taken. */
int local_turns_hold(const struct local *local, int64_t patience);
void local_turns_release(int held);

/* podman's message when it refused to start the task; or NULL. */
const char *local_turns_refusal(const struct local *local,
                                const struct podman_container *container);

/* Forget the refusals of a job; of all jobs at the end. */
void local_turns_forget(struct local *local, const char *id, int attempt);
void local_turns_free(struct local *local);

#endif
