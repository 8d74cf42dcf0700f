/* executors/local/step.h - one step of a batch of submissions: one batch of requests
 *
 * A step sends podman one request for each layout of the batch, or for each of their tasks, and
 * then handles the answers.  Layouts whose outcome is decided are skipped.
 */
#ifndef EXECUTORS_LOCAL_STEP_H
#define EXECUTORS_LOCAL_STEP_H

#include "executors/local/layout.h"

/* The layout and task that a request of a step concerns. */
struct subject {
    struct layout *layout;
    struct layout_task *task; /* NULL: the whole layout */
};

struct step {
    struct podman_call *calls;
    struct subject *subjects; /* one for each call */
    size_t count;
};

/* A step without requests, with space for one for each task of the batch, in the batch's arena.
 * step_free() frees what the calls hold. */
struct step step_make(struct batch *batch);
void step_free(struct step *step);

/* Add a request, which the caller prepares. */
struct podman_call *step_add(struct step *step, struct layout *layout, struct layout_task *task);

typedef void prepare_call(struct batch *batch, struct podman_call *call, struct layout *layout,
                          struct layout_task *task);

/* Add one for every task of undecided layouts that is at `progress`. */
void step_add_tasks(struct batch *batch, struct step *step, enum progress progress,
                    prepare_call *prepare);

/* Send all requests, and wait for the answers. */
void step_run(struct batch *batch, struct step *step);

/* Send one request separately.  When podman hangs, only one such wait is made for all layouts. */
void step_ask(struct batch *batch, struct podman_call *call);

/* Decide a layout by a call that failed for a reason unrelated to the job. */
void step_trouble(struct layout *layout, const struct podman_call *call);

/* The steps that make pods and containers, fetching images where they are missing, and those that
 * start them. */
void step_make_containers(struct batch *batch);
void step_start_containers(struct batch *batch);

#endif
