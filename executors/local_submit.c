/* executors/local_submit.c - handing jobs to podman, exactly once
 *
 * A batch goes through the steps together, each step being one batch of requests.  A plan whose
 * outcome is decided takes no further part.
 *
 * What was made for a job that is then refused is removed again.  Where that, or an answer, cannot
 * be had, the outcome is SUBMIT_UNKNOWN: the same submission made again finds what there is.
 */
#include "executors/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"
#include "executors/local_access.h"
#include "executors/local_storage.h"

enum { ACCESS_TIMEOUT = 10000 };        /* milliseconds for looking at the users' paths */

enum progress { TASK_ABSENT, TASK_CREATED, TASK_STARTED };

struct plan_task {
    const struct local_task *task;
    char name[LOCAL_NAME_SIZE];
    enum progress progress;
    bool pulled;                /* the image was asked for once */
    struct text gpus;           /* devices assigned to it */
    struct text *sources;       /* resolved paths of its mounts */
    struct access_path *paths;  /* within the plan's */
};

struct plan {
    struct submission *submission;
    struct local_manifest *manifest;
    char hash[SHA256_HEX_SIZE];
    struct specification specification;
    struct plan_task *tasks;
    struct access_check access;
    bool decided;
    bool made;                  /* something of it is, or may be, at podman */
    struct buffer note;
};

struct batch {
    struct local *local;
    struct arena *arena;
    struct plan *plans;
    size_t count;
};

/* What a request of a step is about. */
struct subject {
    struct plan *plan;
    struct plan_task *task;
};

static void decide(struct plan *plan, enum submit_outcome outcome)
{
    plan->submission->outcome = outcome;
    plan->decided = true;
}

static void refuse(struct plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(struct plan *plan, const char *format, ...)
{
    char sentence[ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    error_set(&plan->submission->error, "%s", sentence);
    decide(plan, SUBMIT_REFUSED);
}

static void add_note(struct plan *plan, const char *sentence)
{
    buffer_printf(&plan->note, "%s%s", plan->note.length ? "; " : "", sentence);
}

/* ---- the manifest ---- */

static void read_plan(struct batch *batch, struct plan *plan, struct submission *submission)
{
    plan->submission = submission;
    submission->outcome = SUBMIT_UNKNOWN;
    submission->error.text[0] = '\0';
    submission->note[0] = '\0';
    sha256_hex(submission->manifest, plan->hash);
    plan->manifest = local_manifest_read(batch->arena, submission->manifest, &submission->error);
    if (!plan->manifest) {
        decide(plan, SUBMIT_REFUSED);
        return;
    }
    plan->specification = (struct specification){
        .local = batch->local,
        .submission = submission,
        .manifest = plan->manifest,
        .manifest_hash = plan->hash,
        .groups = {"", 0},
    };
    plan->tasks = arena_allocate(batch->arena, plan->manifest->task_count * sizeof(*plan->tasks));
    for (size_t i = 0; i < plan->manifest->task_count; i++) {
        struct plan_task *task = &plan->tasks[i];
        task->task = &plan->manifest->tasks[i];
        local_task_name(task->name, submission->id, submission->attempt, task->task->role,
                        task->task->index);
    }
    if (geteuid() != 0 && submission->uid != geteuid()) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence),
                 "runs as user %u, not as user %u, because dlspool does not run as root", geteuid(),
                 submission->uid);
        add_note(plan, sentence);
    }
}

/* ---- what is there already ---- */

static bool labels_match(const struct plan *plan, const struct podman_container *container)
{
    return local_is_of_job(plan->specification.local, container, plan->submission->id,
                           plan->submission->attempt) &&
           strcmp(local_label(container, "manifest"), plan->hash) == 0;
}

/* Take a container of the task's name for the task's, or refuse the job because it is not. */
static void adopt(struct plan *plan, struct plan_task *task,
                  const struct podman_container *container, struct arena *arena)
{
    if (!labels_match(plan, container)) {
        refuse(plan, "a container named %s is there already and was not made for this job: remove "
               "it (podman rm %s), or submit the job under another name", task->name, task->name);
        return;
    }
    plan->made = true;
    task->progress = container->state == PODMAN_STATE_CREATED ? TASK_CREATED : TASK_STARTED;
    const char *gpus = local_label(container, "gpus_assigned");
    task->gpus = arena_text(arena, gpus, strlen(gpus));
}

static void look(struct batch *batch, struct plan *plan,
                 const struct podman_container *containers, size_t count)
{
    size_t started = 0;
    for (size_t i = 0; i < plan->manifest->task_count && !plan->decided; i++) {
        struct plan_task *task = &plan->tasks[i];
        for (size_t j = 0; j < count && !plan->decided; j++)
            if (text_is(containers[j].name, task->name))
                adopt(plan, task, &containers[j], batch->arena);
        started += task->progress == TASK_STARTED;
    }
    if (plan->decided || !plan->made)
        return;
    add_note(plan, "adopted from an earlier try");
    if (started == plan->manifest->task_count)
        decide(plan, SUBMIT_ACCEPTED);
}

/* ---- room ---- */

static struct demand demand_of(const struct plan *plan, bool absent_only)
{
    struct demand sum = {0};
    for (size_t i = 0; i < plan->manifest->task_count; i++) {
        const struct local_task *task = plan->tasks[i].task;
        if (absent_only && plan->tasks[i].progress != TASK_ABSENT)
            continue;
        sum.cpus += task->cpus;
        sum.memory += task->memory;
        sum.gpus += task->gpus;
    }
    return sum;
}

/* Several tasks' memory may be more than an int64_t counts: one that is too large ends it. */
static bool fits(struct plan *plan, struct room *room)
{
    struct submission *submission = plan->submission;
    for (size_t i = 0; i < plan->manifest->task_count; i++) {
        const struct local_task *task = plan->tasks[i].task;
        struct demand one = {task->cpus, task->memory, task->gpus};
        if (room_fits_ever(room->machine, one, &submission->error)) {
            decide(plan, SUBMIT_NEVER_FITS);
            return false;
        }
    }
    if (room_fits_ever(room->machine, demand_of(plan, false), &submission->error))
        decide(plan, SUBMIT_NEVER_FITS);
    else if (room_fits_now(room, demand_of(plan, true), &submission->error))
        decide(plan, SUBMIT_NO_ROOM);
    return !plan->decided;
}

static void take_room(struct batch *batch, struct plan *plan, struct room *room)
{
    if (!fits(plan, room))
        return;
    for (size_t i = 0; i < plan->manifest->task_count; i++) {
        struct plan_task *task = &plan->tasks[i];
        if (task->progress != TASK_ABSENT)
            continue;
        struct demand demand = {task->task->cpus, task->task->memory, 0};
        room_take(room, demand, (struct text){"", 0});
        task->gpus = room_assign(room, batch->arena, task->task->gpus);
    }
}

/* ---- the users' paths ---- */

static size_t mounts_of(const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->manifest->task_count; i++)
        count += plan->tasks[i].task->mount_count;
    return count;
}

static void prepare_check(struct batch *batch, struct plan *plan)
{
    size_t at = 0;
    struct access_path *paths =
        arena_allocate(batch->arena, (mounts_of(plan) + 1) * sizeof(*paths));
    for (size_t i = 0; i < plan->manifest->task_count; i++) {
        const struct local_task *task = plan->tasks[i].task;
        plan->tasks[i].paths = paths + at;
        for (size_t j = 0; j < task->mount_count; j++)
            paths[at++] = (struct access_path){.path = task->mounts[j].source,
                                               .write = !task->mounts[j].readonly};
    }
    plan->access = (struct access_check){
        .uid = geteuid() == 0 ? plan->submission->uid : geteuid(),
        .gid = geteuid() == 0 ? plan->submission->gid : getegid(),
        .paths = paths,
        .count = at,
    };
}

static void take_sources(struct batch *batch, struct plan *plan)
{
    for (size_t i = 0; i < plan->manifest->task_count; i++) {
        struct plan_task *task = &plan->tasks[i];
        task->sources = arena_allocate(batch->arena,
                                       (task->task->mount_count + 1) * sizeof(struct text));
        for (size_t j = 0; j < task->task->mount_count; j++)
            task->sources[j] = task->paths[j].resolved;
    }
}

static void check_access(struct batch *batch)
{
    struct access_check **checks =
        arena_allocate(batch->arena, (batch->count + 1) * sizeof(struct access_check *));
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->plans[i].decided)
            continue;
        prepare_check(batch, &batch->plans[i]);
        checks[count++] = &batch->plans[i].access;
    }
    access_check_all(batch->arena, checks, count, ACCESS_TIMEOUT);
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        if (plan->decided)
            continue;
        plan->specification.groups = plan->access.groups;
        take_sources(batch, plan);
        if (plan->access.outcome == ACCESS_GRANTED)
            continue;
        plan->submission->error = plan->access.error;
        /* A file server that hangs is this job's trouble alone: like a lack of room, it passes. */
        decide(plan, plan->access.outcome == ACCESS_DENIED ? SUBMIT_REFUSED : SUBMIT_NO_ROOM);
    }
}

/* ---- files ---- */

static void write_files(struct plan *plan)
{
    struct submission *submission = plan->submission;
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, submission->id, submission->attempt);
    bool failed = local_storage_make_job(plan->specification.local->directory, job,
                                         &submission->error);
    plan->made = true;
    for (size_t i = 0; i < plan->manifest->task_count && !failed; i++)
        if (plan->tasks[i].progress == TASK_ABSENT)
            failed = local_write_files(&plan->specification, plan->tasks[i].task,
                                       &submission->error);
    if (failed)
        decide(plan, SUBMIT_UNAVAILABLE);
}

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
    decide(plan, call->outcome == PODMAN_UNKNOWN ? SUBMIT_UNKNOWN : SUBMIT_UNAVAILABLE);
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
    podman_run(batch->local->podman, &call, 1);
    if (call.outcome == PODMAN_DONE || call.outcome == PODMAN_MISSING) {
        /* MISSING: the name is taken by something that is no pod. */
        struct podman_container pod = {.labels = podman_read_labels(&call, batch->arena)};
        if (call.outcome == PODMAN_MISSING || !labels_match(plan, &pod))
            refuse(plan, "a pod or container named %s is there already and was not made for this "
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
            refuse(plan, "podman refuses the pod of the job: %s", call->error.text);
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
    podman_run(batch->local->podman, &call, 1);
    if (call.outcome == PODMAN_MISSING)
        refuse(plan, "the name %s is taken at podman by something that is no container of this "
               "job: remove it, or submit the job under another name", task->name);
    else if (call.outcome != PODMAN_DONE)
        decide_trouble(plan, &call);
    else if (podman_read_inspection(&call, batch->arena, &container, &plan->submission->error))
        decide(plan, SUBMIT_UNKNOWN);
    else
        adopt(plan, task, &container, batch->arena);
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
            add_note(plan, warnings.data);
        buffer_free(&warnings);
        break;
    }
    case PODMAN_ALREADY:
        recognise_container(batch, plan, task);
        break;
    case PODMAN_MISSING:
        if (task->pulled)
            refuse(plan, "the image %s is not on this machine, although it was pulled: %s", image,
                   call->error.text);
        break;
    case PODMAN_REFUSED:
        refuse(plan, "podman refuses the container of task %.*s-%d: %s",
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
        refuse(plan, "the image %s is not on this machine and could not be pulled: %s", room.text,
               call->error.text);
    else if (text_contains(answer, TEXT("\"error\"")))
        refuse(plan, "the image %s is not on this machine and could not be pulled: %s", room.text,
               error_quote(&said, answer.data, answer.length));
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

static void start_containers(struct batch *batch)
{
    struct step step = make_step(batch);
    add_tasks(batch, &step, TASK_CREATED, prepare_start);
    podman_run(batch->local->podman, step.calls, step.count);
    for (size_t i = 0; i < step.count; i++) {
        struct plan *plan = step.subjects[i].plan;
        const struct local_task *task = step.subjects[i].task->task;
        const struct podman_call *call = &step.calls[i];
        bool running = call->outcome == PODMAN_DONE || call->http.status == 304;
        if (running)
            step.subjects[i].task->progress = TASK_STARTED;
        else if (plan->decided)
            continue;
        else if (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING)
            refuse(plan, "task %.*s-%d could not be started: %s", (int)task->role.length,
                   task->role.data, task->index, call->error.text);
        else if (call->outcome == PODMAN_ALREADY)
            decide(plan, SUBMIT_UNKNOWN);       /* neither new nor running: look again */
        else
            decide_trouble(plan, call);
    }
    free_step(&step);
}

/* ---- the end ---- */

static void finish(struct batch *batch, struct plan *plan)
{
    struct submission *submission = plan->submission;
    if (!plan->decided)
        decide(plan, SUBMIT_ACCEPTED);
    if (submission->outcome == SUBMIT_ACCEPTED) {
        submission->error.text[0] = '\0';
        snprintf(submission->note, sizeof(submission->note), "%s",
                 plan->note.length ? plan->note.data : "");
    } else if (plan->made && submission->outcome != SUBMIT_UNKNOWN) {
        struct error error;
        if (local_remove_objects(batch->local, submission->id, submission->attempt, &error))
            submission->outcome = SUBMIT_UNKNOWN;
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
        decide(&batch->plans[i], SUBMIT_UNAVAILABLE);
    }
}

static bool any_left(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->plans[i].decided)
            return true;
    return false;
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
    struct room room;
    room_empty(&room, batch->arena, &batch->local->machine);
    local_count(&room, containers, count);
    for (size_t i = 0; i < batch->count; i++) {
        struct plan *plan = &batch->plans[i];
        if (!plan->decided)
            look(batch, plan, containers, count);
        if (!plan->decided)
            take_room(batch, plan, &room);
    }
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
        read_plan(&batch, &batch.plans[i], submissions[i]);
    if (any_left(&batch))
        take_stock(&batch);
    check_access(&batch);
    for (size_t i = 0; i < count; i++)
        if (!batch.plans[i].decided)
            write_files(&batch.plans[i]);
    make_pods(&batch);
    if (create_containers(&batch) && any_left(&batch)) {
        pull_images(&batch);
        create_containers(&batch);
    }
    start_containers(&batch);
    for (size_t i = 0; i < count; i++)
        finish(&batch, &batch.plans[i]);
    arena_free(batch.arena);
}
