/* executors/local_submit.c - handing jobs to podman, exactly once
 *
 * A batch goes through the steps together, each step being one batch of requests.  A plan whose
 * outcome is decided takes no further part.
 *
 * What was made for a job that is then refused is removed again.  Where that, or an answer, cannot
 * be had, the outcome is SUBMIT_UNKNOWN: the same submission made again finds what there is.
 */
#include "executors/local_plan.h"

#include <stdio.h>
#include <string.h>

/* What a request of a step is about. */
struct subject {
    struct plan *plan;
    struct plan_task *task;
};

/* ---- requests ---- */

struct step {
    struct podman_call *calls;
    struct subject *subjects;
    size_t count;
};

static struct step make_step(struct batch *batch)
{
    size_t room = 1;
    for (size_t i = 0; i < batch->count; i++)
        room += batch->plans[i].manifest ? batch->plans[i].manifest->task_count : 0;
    return (struct step){
        .calls = arena_allocate(batch->arena, room * sizeof(struct podman_call)),
        .subjects = arena_allocate(batch->arena, room * sizeof(struct subject)),
    };
}

static struct podman_call *add_call(struct step *step, struct plan *plan, struct plan_task *task)
{
    step->subjects[step->count] = (struct subject){plan, task};
    return &step->calls[step->count++];
}

static void free_step(struct step *step)
{
    for (size_t i = 0; i < step->count; i++)
        podman_call_free(&step->calls[i]);
    step->count = 0;
}

/* Every task of undecided plans that is at `progress`, or the first one of each plan. */
typedef void prepare_call(struct batch *batch, struct podman_call *call, struct plan *plan,
                          struct plan_task *task);

static void add_tasks(struct batch *batch, struct step *step, enum progress progress,
                      prepare_call *prepare)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        for (size_t j = 0; !plan->decided && j < plan->manifest->task_count; j++)
            if (plan->tasks[j].progress == progress)
                prepare(batch, add_call(step, plan, &plan->tasks[j]), plan, &plan->tasks[j]);
    }
}

/* A call that failed for a reason that has nothing to do with the job. */
static void decide_trouble(struct plan *plan, const struct podman_call *call)
{
    if (plan->decided)
        return;
    error_set(&plan->submission->error, "podman cannot take the job: %s", call->error.text);
    plan_decide(plan, call->outcome == PODMAN_UNKNOWN ? SUBMIT_UNKNOWN : SUBMIT_UNAVAILABLE);
}

/* One request on its own.  When podman hangs, one waits for all the plans. */
static void ask(struct batch *batch, struct podman_call *call)
{
    if (batch->silent) {
        call->outcome = PODMAN_UNKNOWN;
        error_set(&call->error, "podman did not answer when it was asked after another job");
        return;
    }
    podman_run(batch->local->podman, call, 1);
    batch->silent = call->outcome == PODMAN_UNKNOWN || call->outcome == PODMAN_DOWN;
}

/* ---- pods ---- */

/* A pod of the name is there: is it ours? */
static void recognise_pod(struct batch *batch, struct plan *plan)
{
    char name[LOCAL_NAME_SIZE];
    struct submission *submission = plan->submission;
    local_job_name(name, submission->id, submission->attempt);
    struct podman_call call = {0};
    podman_call_inspect_pod(&call, name);
    ask(batch, &call);
    if (call.outcome == PODMAN_DONE || call.outcome == PODMAN_MISSING) {
        /* MISSING: the name is taken by something that is no pod. */
        struct podman_container pod = {0};
        if (call.outcome == PODMAN_DONE &&
            podman_read_pod(&call, batch->arena, &pod.labels, &plan->submission->error))
            plan_decide(plan, SUBMIT_UNKNOWN);
        else if (call.outcome == PODMAN_MISSING || !plan_made(plan, &pod))
            plan_refuse(plan,
                        "a pod or container named %s is there already and was not made for this "
                        "job: remove it (podman pod rm %s), or submit the job under another name",
                        name, name);
    } else {
        decide_trouble(plan, &call);
    }
    podman_call_free(&call);
}

static void make_pods(struct batch *batch)
{
    struct step step = make_step(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        if (!plan->decided && local_needs_pod(plan->manifest))
            podman_call_create_pod(add_call(&step, plan, NULL),
                                   local_specify_pod(batch->arena, &plan->specification));
    }
    podman_run(batch->local->podman, step.calls, step.count);
    for (size_t i = 0; i < step.count; i++) {
        struct plan *plan = step.subjects[i].plan;
        const struct podman_call *call = &step.calls[i];
        if (call->outcome == PODMAN_ALREADY)
            recognise_pod(batch, plan);
        else if (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING)
            plan_refuse(plan, "podman refuses the pod of the job: %s", call->error.text);
        else if (call->outcome != PODMAN_DONE)
            decide_trouble(plan, call);
    }
    free_step(&step);
}

/* ---- containers ---- */

static void prepare_create(struct batch *batch, struct podman_call *call, struct plan *plan,
                           struct plan_task *task)
{
    podman_call_create(call, local_specify_task(batch->arena, &plan->specification, task->task,
                                                task->sources, task->gpus));
}

/* A container of the name is there that the list did not show as one of dlspool's, or that was
 * made a moment ago by another process for the same submission. */
static void recognise_container(struct batch *batch, struct plan *plan, struct plan_task *task)
{
    struct podman_call call = {0};
    struct podman_container container = {0};
    podman_call_inspect(&call, task->name);
    ask(batch, &call);
    if (call.outcome == PODMAN_MISSING)
        plan_refuse(plan,
                    "the name %s is taken at podman by something that is no container of this "
                    "job: remove it, or submit the job under another name",
                    task->name);
    else if (call.outcome != PODMAN_DONE)
        decide_trouble(plan, &call);
    else if (podman_read_inspection(&call, batch->arena, &container, &plan->submission->error))
        plan_decide(plan, SUBMIT_UNKNOWN);
    else
        plan_adopt(plan, task, &container, batch->arena);
    podman_call_free(&call);
}

static void note_created(struct batch *batch, struct subject *subject,
                         const struct podman_call *call)
{
    struct plan *plan = subject->plan;
    struct plan_task *task = subject->task;
    struct error_quote_room room;
    const char *image = error_quote(&room, task->task->image.data, task->task->image.length);
    switch (call->outcome) {
    case PODMAN_DONE: {
        struct buffer warnings = {0};
        task->progress = TASK_CREATED;
        podman_read_warnings(call, &warnings);
        if (warnings.length)
            plan_note(plan, warnings.data);
        buffer_free(&warnings);
        break;
    }
    case PODMAN_ALREADY:
        recognise_container(batch, plan, task);
        break;
    case PODMAN_MISSING:
        if (task->pulled)
            plan_refuse(plan, "the image %s is not on this machine, although it was pulled: %s",
                        image, call->error.text);
        break;
    case PODMAN_REFUSED:
        plan_refuse(plan, "podman refuses the container of task %.*s-%d: %s",
                    (int)task->task->role.length, task->task->role.data, task->task->index,
                    call->error.text);
        break;
    default:
        decide_trouble(plan, call);
    }
}

/* Returns whether a task lacks its image. */
static bool create_containers(struct batch *batch)
{
    struct step step = make_step(batch);
    bool lacking = false;
    add_tasks(batch, &step, TASK_ABSENT, prepare_create);
    podman_run(batch->local->podman, step.calls, step.count);
    for (size_t i = 0; i < step.count; i++) {
        if (!step.subjects[i].plan->decided)
            note_created(batch, &step.subjects[i], &step.calls[i]);
        lacking = lacking || step.calls[i].outcome == PODMAN_MISSING;
    }
    free_step(&step);
    return lacking;
}

static void prepare_pull(struct batch *batch, struct podman_call *call, struct plan *plan,
                         struct plan_task *task)
{
    (void)plan;
    podman_call_pull(call, task->task->image, batch->local->settings.pull_timeout);
}

/* podman answers a pull with status 200 before it knows how it goes; an error comes in the body. */
static void note_pulled(struct subject *subject, const struct podman_call *call)
{
    struct plan *plan = subject->plan;
    struct error_quote_room room, said;
    const struct text image = subject->task->task->image;
    struct text answer = buffer_text(&call->http.response);
    subject->task->pulled = true;
    if (plan->decided)
        return;
    error_quote(&room, image.data, image.length);
    if (call->outcome == PODMAN_DOWN)
        decide_trouble(plan, call);
    else if (call->outcome != PODMAN_DONE)
        plan_refuse(plan, "the image %s is not on this machine and could not be pulled: %s",
                    room.text, call->error.text);
    else if (text_contains(answer, TEXT("\"error\"")))
        plan_refuse(plan, "the image %s is not on this machine and could not be pulled: %s",
                    room.text, error_quote(&said, answer.data, answer.length));
}

static void pull_images(struct batch *batch)
{
    struct step step = make_step(batch);
    add_tasks(batch, &step, TASK_ABSENT, prepare_pull);
    podman_run(batch->local->podman, step.calls, step.count);
    for (size_t i = 0; i < step.count; i++)
        note_pulled(&step.subjects[i], &step.calls[i]);
    free_step(&step);
}

/* ---- starting ---- */

static void prepare_start(struct batch *batch, struct podman_call *call, struct plan *plan,
                          struct plan_task *task)
{
    (void)batch;
    (void)plan;
    podman_call_start(call, task->name);
}

/* The pod's own container goes first: podman 4.3 fails now and then when two tasks that are started
 * at the same time both find that it does not run yet. */
static void start_pods(struct batch *batch)
{
    struct step step = make_step(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        char name[LOCAL_NAME_SIZE];
        if (plan->decided || !local_needs_pod(plan->manifest))
            continue;
        local_infra_name(name, plan->submission->id, plan->submission->attempt);
        podman_call_start(add_call(&step, plan, NULL), name);
    }
    podman_run(batch->local->podman, step.calls, step.count);
    for (size_t i = 0; i < step.count; i++) {
        const struct podman_call *call = &step.calls[i];
        bool running = call->outcome == PODMAN_DONE || call->http.status == 304;
        if (!running && (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING))
            plan_refuse(step.subjects[i].plan, "the pod of the job could not be started: %s",
                        call->error.text);
        else if (!running)
            decide_trouble(step.subjects[i].plan, call);
    }
    free_step(&step);
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
    ask(batch, &call);
    if (call.outcome != PODMAN_DONE && call.outcome != PODMAN_MISSING)
        decide_trouble(plan, &call);
    else if (call.outcome == PODMAN_DONE && podman_read_inspection(&call, batch->arena, &container,
                                                                   &plan->submission->error))
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
        decide_trouble(plan, call);
    else { /* it may run, whatever was answered: look again */
        plan_decide(plan, SUBMIT_UNKNOWN);
        error_set(&plan->submission->error, "podman did not say whether the job was started: %s",
                  call->error.text);
    }
}

static void start_containers(struct batch *batch)
{
    struct step step = make_step(batch);
    add_tasks(batch, &step, TASK_CREATED, prepare_start);
    podman_run(batch->local->podman, step.calls, step.count);
    for (size_t i = 0; i < step.count; i++)
        note_started(batch, &step.subjects[i], &step.calls[i]);
    free_step(&step);
}

/* ---- the end ---- */

static bool any_started(const struct plan *plan)
{
    for (size_t i = 0; plan->tasks && i < plan->manifest->task_count; i++)
        if (plan->tasks[i].progress == TASK_STARTED)
            return true;
    return false;
}

static void finish(struct batch *batch, struct plan *plan)
{
    struct submission *submission = plan->submission;
    if (!plan->decided)
        plan_decide(plan, SUBMIT_ACCEPTED);
    /* What runs, of a job that will be handed in again, must not be removed and run again. */
    if ((submission->outcome == SUBMIT_UNAVAILABLE || submission->outcome == SUBMIT_NO_ROOM) &&
        any_started(plan))
        submission->outcome = SUBMIT_UNKNOWN;
    if (submission->outcome == SUBMIT_ACCEPTED) {
        submission->error.text[0] = '\0';
        snprintf(submission->note, sizeof(submission->note), "%s",
                 plan->note.length ? plan->note.data : "");
    } else if (plan->made && submission->outcome != SUBMIT_UNKNOWN) {
        struct error error;
        if (batch->silent ||
            local_remove_objects(batch->local, submission->id, submission->attempt, &error)) {
            submission->outcome = SUBMIT_UNKNOWN;
            batch->silent = true;
        }
    }
    if (submission->outcome == SUBMIT_UNKNOWN && !submission->error.text[0])
        error_set(&submission->error, "podman did not say whether it has the job");
    buffer_free(&plan->note);
}

static void decide_all_unavailable(struct batch *batch, const struct error *error)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->plans[i].decided)
            continue;
        batch->plans[i].submission->error = *error;
        plan_decide(&batch->plans[i], SUBMIT_UNAVAILABLE);
    }
}

/* Look at podman's containers: adopt, and count what is left for the rest. */
static void take_stock(struct batch *batch)
{
    struct podman_container *containers = NULL;
    size_t count = 0;
    struct error error;
    if (local_ensure(batch->local, &error) ||
        local_list(batch->local, batch->arena, true, &containers, &count, &error)) {
        decide_all_unavailable(batch, &error);
        return;
    }
    plan_look(batch, containers, count);
    plan_take_room(batch, containers, count);
}

void local_submit(struct executor *executor, struct submission **submissions, size_t count)
{
    struct batch batch = {
        .local = (struct local *)(void *)executor,
        .arena = arena_new(),
        .count = count,
    };
    batch.plans = arena_allocate(batch.arena, (count + 1) * sizeof(*batch.plans));
    for (size_t i = 0; i < count; i++)
        plan_read(&batch, &batch.plans[i], submissions[i]);
    if (plan_any_left(&batch))
        take_stock(&batch);
    plan_check_access(&batch);
    plan_write_files(&batch);
    make_pods(&batch);
    if (create_containers(&batch) && plan_any_left(&batch)) {
        pull_images(&batch);
        create_containers(&batch);
    }
    start_pods(&batch);
    start_containers(&batch);
    for (size_t i = 0; i < count; i++)
        finish(&batch, &batch.plans[i]);
    arena_free(batch.arena);
}
