/* executors/local/start.c - starts the pods and containers of a batch
 *
 * A request to start that was not answered may have been carried out: the outcome is then
 * SUBMIT_UNKNOWN.
 */
#include "executors/local/step.h"

/* Start the pods' own containers first: podman 4.3 sometimes fails when two tasks that are started at the same
 * time both find that theirs does not run yet. */
static void start_pods(struct batch *batch)
{
    struct step step = step_make(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        char name[LOCAL_NAME_SIZE];
        if (layout->decided || !local_needs_pod(layout->manifest))
            continue;
        local_infra_name(name, layout->submission->id, layout->submission->attempt);
        podman_call_start(step_add(&step, layout, NULL), name);
    }
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++) {
        const struct podman_call *call = &step.calls[i];
        bool running = call->outcome == PODMAN_DONE || call->http.status == 304;
        if (!running && (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING))
            layout_refuse(step.subjects[i].layout, "the pod of the job could not be started: %s",
                          call->error.text);
        else if (!running)
            step_trouble(step.subjects[i].layout, call);
    }
    step_free(&step);
}

/* podman refuses to start the task, or has started it and says otherwise: look at the container. */
static void look_whether_started(struct batch *batch, const struct subject *subject,
                                 const struct podman_call *start)
{
    struct layout *layout = subject->layout;
    const struct local_task *task = subject->task->task;
    struct podman_call call = {0};
    struct podman_container container = {0};
    podman_call_inspect(&call, subject->task->name);
    step_ask(batch, &call);
    if (call.outcome != PODMAN_DONE && call.outcome != PODMAN_MISSING)
        step_trouble(layout, &call);
    else if (call.outcome == PODMAN_DONE &&
             podman_read_inspection(&call, batch->arena, &container, &layout->submission->error))
        layout_decide(layout, SUBMIT_UNKNOWN);
    else if (container.state == PODMAN_STATE_RUNNING || container.state == PODMAN_STATE_ENDED)
        subject->task->progress = TASK_STARTED;
    else
        layout_refuse(layout, "task %.*s-%d could not be started: %s", (int)task->role.length,
                      task->role.data, task->index, start->error.text);
    podman_call_free(&call);
}

static void note_started(struct batch *batch, const struct subject *subject,
                         const struct podman_call *call)
{
    struct layout *layout = subject->layout;
    if (call->outcome == PODMAN_DONE || call->http.status == 304)
        subject->task->progress = TASK_STARTED;
    else if (layout->decided)
        return;
    else if (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING)
        look_whether_started(batch, subject, call);
    else if (call->outcome == PODMAN_DOWN)
        step_trouble(layout, call);
    else { /* it may run, whatever the answer was: look again later */
        layout_decide(layout, SUBMIT_UNKNOWN);
        error_set(&layout->submission->error, "podman did not say whether the job was started: %s",
                  call->error.text);
    }
}

static void start_containers(struct batch *batch)
{
    struct step step = step_make(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        for (size_t j = 0; !layout->decided && j < layout->starts; j++)
            if (layout->tasks[j].progress == TASK_CREATED)
                podman_call_start(step_add(&step, layout, &layout->tasks[j]),
                                  layout->tasks[j].name);
    }
    for (size_t i = 0; i < step.count; i++)
        step.subjects[i].layout->started = true;
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++)
        note_started(batch, &step.subjects[i], &step.calls[i]);
    step_free(&step);
}

void step_start_containers(struct batch *batch)
{
    start_pods(batch);
    start_containers(batch);
}
