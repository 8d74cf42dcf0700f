/* executors/local/step.c - one step of a batch of submissions: one batch of requests */
#include "executors/local/step.h"

struct step step_make(struct batch *batch)
{
    size_t most = 1;
    for (size_t i = 0; i < batch->count; i++)
        most += batch->layouts[i].manifest ? batch->layouts[i].manifest->task_count : 0;
    return (struct step){
        .calls = arena_allocate(batch->arena, most * sizeof(struct podman_call)),
        .subjects = arena_allocate(batch->arena, most * sizeof(struct subject)),
    };
}

struct podman_call *step_add(struct step *step, struct layout *layout, struct layout_task *task)
{
    step->subjects[step->count] = (struct subject){layout, task};
    return &step->calls[step->count++];
}

void step_run(struct batch *batch, struct step *step)
{
    podman_run(batch->local->podman, step->calls, step->count);
}

void step_free(struct step *step)
{
    for (size_t i = 0; i < step->count; i++)
        podman_call_free(&step->calls[i]);
    step->count = 0;
}

void step_add_tasks(struct batch *batch, struct step *step, enum progress progress,
                    prepare_call *prepare)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        for (size_t j = 0; !layout->decided && j < layout->manifest->task_count; j++)
            if (layout->tasks[j].progress == progress)
                prepare(batch, step_add(step, layout, &layout->tasks[j]), layout,
                        &layout->tasks[j]);
    }
}

void step_trouble(struct layout *layout, const struct podman_call *call)
{
    if (layout->decided)
        return;
    error_set(&layout->submission->error, "podman cannot take the job: %s", call->error.text);
    layout_decide(layout, call->outcome == PODMAN_UNKNOWN ? SUBMIT_UNKNOWN : SUBMIT_UNAVAILABLE);
}

void step_ask(struct batch *batch, struct podman_call *call)
{
    if (batch->silent) {
        call->outcome = PODMAN_UNKNOWN;
        error_set(&call->error, "podman did not answer when it was asked after another job");
        return;
    }
    podman_run(batch->local->podman, call, 1);
    batch->silent = call->outcome == PODMAN_UNKNOWN || call->outcome == PODMAN_DOWN;
}
