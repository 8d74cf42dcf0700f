/* executors/local/turns.h - jobs whose tasks take turns: at most `parallelism` run at once
 *
 * All containers of such a job are made when it is submitted, and its first tasks are started; the
 * others wait as containers that were never started.  Whoever asks how the job fares starts the
 * next ones as others end and there is room, in the order of role and index.  So podman alone knows
 * how far the job is, and whatever crashes, the next look goes on from there.
 *
 * A container that has ever run is not started again: podman tells when it was started, after a
 * restart of the machine too.  One that had begun to run when the machine was restarted has ended,
 * and nobody knows how.
 *
 * A task that takes another's turn takes its devices as well, as a container's devices are fixed
 * when it is made: the N-th task has those of the task N - parallelism.
 *
 * One that podman refuses to start has failed.  That is remembered in memory only: after a restart
 * of dlspool it is tried once more.
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

/* Has the container ended without podman saying so?  Then its state is made PODMAN_STATE_ENDED. */
void local_turns_settle(const struct local *local, struct podman_container *container);

/* Start of each job what may be and for which there is room, all at the same time, and note in the
 * containers what became of it.  Nothing is started while another process counts what is there. */
void local_turns_start(struct local *local, struct arena *arena, struct local_turns *jobs,
                       size_t count);

/* Between counting what is there and having made or started what was counted for, a process holds
 * this, so that two do not give away the same room.  Waits `patience` milliseconds for one that
 * has it.  A descriptor for local_turns_release(), which takes -1 too; -1 when it could not be had. */
int local_turns_hold(const struct local *local, int64_t patience);
void local_turns_release(int held);

/* podman's words when it refused to start the task; or NULL. */
const char *local_turns_refusal(const struct local *local,
                                const struct podman_container *container);

/* Forget the refusals of a job; of all jobs at the end. */
void local_turns_forget(struct local *local, const char *id, int attempt);
void local_turns_free(struct local *local);

#endif
