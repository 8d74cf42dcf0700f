/* executors/local/start.c - starting what was made at podman
 *
 * A request to start that was not answered may have been obeyed: the outcome is then
 * SUBMIT_UNKNOWN.
 */
#include "executors/local/step.h"

/* The pod's own container goes first: podman 4.3 fails now and then when two tasks that are started
 * at the same time both find that it does not run yet. */
static void start_pods(struct batch *batch)
{
    struct step step = step_make(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        char name[LOCAL_NAME_SIZE];
        if (plan->decided || !local_needs_pod(plan->manifest))
            continue;
        local_infra_name(name, plan->submission->id, plan->submission->attempt);
        podman_call_start(step_add(&step, plan, NULL), name);
    }
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++) {
        const struct podman_call *call = &step.calls[i];
        bool running = call->outcome == PODMAN_DONE || call->http.status == 304;
        if (!running && (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING))
            plan_refuse(step.subjects[i].plan, "the pod of the job could not be started: %s",
                        call->error.text);
        else if (!running)
            step_trouble(step.subjects[i].plan, call);
    }
    step_free(&step);
}

/* podman does not want to start it, or has started it and says otherwise. */
static void look_whether_started(struct batch *batch, const struct subject *subject,
                                 const struct podman_call *start)
{
    struct plan *plan = subject->plan;
    const struct local_task *task = subject->task->task;
    struct podman_call call = {0};
    struct podman_container container = {0};
    podman_call_inspect(&call, subject->task->name);
    step_ask(batch, &call);
    if (call.outcome != PODMAN_DONE && call.outcome != PODMAN_MISSING)
        step_trouble(plan, &call);
    else if (call.outcome == PODMAN_DONE &&
             podman_read_inspection(&call, batch->arena, &container, &plan->submission->error))
        plan_decide(plan, SUBMIT_UNKNOWN);
    else if (container.state == PODMAN_STATE_RUNNING || container.state == PODMAN_STATE_ENDED)
        subject->task->progress = TASK_STARTED;
    else
        plan_refuse(plan, "task %.*s-%d could not be started: %s", (int)task->role.length,
                    task->role.data, task->index, start->error.text);
    podman_call_free(&call);
}

static void note_started(struct batch *batch, const struct subject *subject,
                         const struct podman_call *call)
{
    struct plan *plan = subject->plan;
    if (call->outcome == PODMAN_DONE || call->http.status == 304)
        subject->task->progress = TASK_STARTED;
    else if (plan->decided)
        return;
    else if (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING)
        look_whether_started(batch, subject, call);
    else if (call->outcome == PODMAN_DOWN)
        step_trouble(plan, call);
    else { /* it may run, whatever was answered: look again */
        plan_decide(plan, SUBMIT_UNKNOWN);
        error_set(&plan->submission->error, "podman did not say whether the job was started: %s",
                  call->error.text);
    }
}

static void start_containers(struct batch *batch)
{
    struct step step = step_make(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        for (size_t j = 0; !plan->decided && j < plan->starts; j++)
            if (plan->tasks[j].progress == TASK_CREATED)
                podman_call_start(step_add(&step, plan, &plan->tasks[j]), plan->tasks[j].name);
    }
    for (size_t i = 0; i < step.count; i++)
        step.subjects[i].plan->started = true;
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++)
        note_started(batch, &step.subjects[i], &step.calls[i]);
    step_free(&step);
}

void local_start(struct batch *batch)
{
    start_pods(batch);
    start_containers(batch);
}
