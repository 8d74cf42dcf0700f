/* executors/local/step.h - one step of a batch of submissions: one batch of requests
 *
 * A step asks podman one thing for each layout of the batch, or for each of their tasks, and then
 * looks at the answers.  Plans whose outcome is decided take no part.
 */
#ifndef EXECUTORS_LOCAL_STEP_H
#define EXECUTORS_LOCAL_STEP_H

#include "executors/local/layout.h"

/* What a request of a step is about. */
struct subject {
    struct layout *layout;
    struct layout_task *task; /* NULL: the whole layout */
};

struct step {
    struct podman_call *calls;
    struct subject *subjects; /* one for each call */
    size_t count;
};

/* A step without requests, with room for one for each task of the batch, in the batch's arena.
 * step_free() frees what the calls hold. */
struct step step_make(struct batch *batch);
void step_free(struct step *step);

/* One more request, to be prepared by the caller. */
struct podman_call *step_add(struct step *step, struct layout *layout, struct layout_task *task);

typedef void prepare_call(struct batch *batch, struct podman_call *call, struct layout *layout,
                          struct layout_task *task);

/* One for every task of undecided layouts that is at `progress`. */
void step_add_tasks(struct batch *batch, struct step *step, enum progress progress,
                    prepare_call *prepare);

/* Send them all, and wait for the answers. */
void step_run(struct batch *batch, struct step *step);

/* One request on its own.  When podman hangs, one waits for all the layouts. */
void step_ask(struct batch *batch, struct podman_call *call);

/* Decide a layout by a call that failed for a reason that has nothing to do with the job. */
void step_trouble(struct layout *layout, const struct podman_call *call);

/* The steps that make pods and containers, fetching images where they are missing, and those that
 * start them. */
void step_make_containers(struct batch *batch);
void step_start_containers(struct batch *batch);

#endif
