/* executors/local/layout.c - what to do about each submission of a batch */
#include "executors/local/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executors/completion.h"
#include "executors/local/process.h"
#include "executors/local/storage.h"

enum { ACCESS_TIMEOUT = 10000 }; /* milliseconds for the check of the users' paths */

void layout_decide(struct layout *layout, enum submit_outcome outcome)
{
    layout->submission->outcome = outcome;
    layout->decided = true;
}

void layout_refuse(struct layout *layout, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_list(&layout->submission->error, format, arguments);
    va_end(arguments);
    layout_decide(layout, SUBMIT_REFUSED);
}

void layout_mender(struct layout *layout, enum submit_mender mender, const char *remedy)
{
    struct submission *submission = layout->submission;
    submission->mender = mender;
    snprintf(submission->remedy, sizeof(submission->remedy), "%s", remedy);
}

void layout_note(struct layout *layout, const char *sentence)
{
    if (layout->note.length && strstr(layout->note.data, sentence))
        return; /* every task's container gave the same warning */
    buffer_printf(&layout->note, "%s%s", layout->note.length ? "; " : "", sentence);
}

/* ---- the manifest ---- */

static bool wants_host_image(const struct local_manifest *manifest)
{
    for (size_t i = 0; i < manifest->task_count; i++)
        if (text_is(manifest->tasks[i].image, "host"))
            return true;
    return false;
}

/* Where a program that connects a job's own network to the outside is missing, the job gets that network only,
 * and a note in its log.  For a podman that dlspool did not start, that is unknown. */
static void read_network(struct batch *batch, struct layout *layout)
{
    if (layout->manifest->network != NETWORK_OUTGOING || !batch->local->service)
        return;
    char *program = process_find("slirp4netns");
    const char *lack = !program                              ? "slirp4netns is not installed"
                       : access("/dev/net/tun", R_OK | W_OK) ? "/dev/net/tun cannot be opened"
                                                             : NULL;
    free(program);
    if (!lack)
        return;
    char sentence[128];
    snprintf(sentence, sizeof(sentence), "no network to the outside: %s", lack);
    layout_note(layout, sentence);
    layout->manifest->network = NETWORK_PRIVATE;
}

/* Handle what is different when dlspool does not run as root: images of the host, and the user that tasks run
 * as. */
static void read_without_root(struct batch *batch, struct layout *layout)
{
    const struct submission *submission = layout->submission;
    const struct podman_service *service = batch->local->service;
    char sentence[128];
    if (geteuid() == 0)
        return;
    if (service && !podman_service_has_overlay(service) && wants_host_image(layout->manifest)) {
        layout_refuse(layout,
                      "image: host needs dlspool to run as root or the program fuse-overlayfs: "
                      "without root the kernel lays no overlay over this machine's files");
        layout_mender(layout, MENDER_SITE,
                      "Have it installed (apt-get install fuse-overlayfs), or name another image");
    }
    if (submission->uid == geteuid())
        return;
    snprintf(sentence, sizeof(sentence),
             "runs as user %u, not as user %u, because dlspool does not run as root", geteuid(),
             submission->uid);
    layout_note(layout, sentence);
}

void layout_read(struct batch *batch, struct layout *layout, struct submission *submission)
{
    layout->submission = submission;
    submission->outcome = SUBMIT_UNKNOWN;
    submission->error.text[0] = '\0';
    submission->note[0] = '\0';
    submission->mender = MENDER_MANIFEST;
    submission->remedy[0] = '\0';
    sha256_hex(submission->manifest, layout->hash);
    layout->manifest = local_manifest_read(batch->arena, submission->manifest, &submission->error);
    if (!layout->manifest) {
        layout_decide(layout, SUBMIT_REFUSED);
        return;
    }
    layout->specification = (struct specification){
        .local = batch->local,
        .submission = submission,
        .manifest = layout->manifest,
        .manifest_hash = layout->hash,
        .groups = {"", 0},
    };
    layout->starts = layout->manifest->task_count;
    layout->specification.at_once = layout->manifest->parallelism;
    layout->tasks =
        arena_allocate(batch->arena, layout->manifest->task_count * sizeof(*layout->tasks));
    for (size_t i = 0; i < layout->manifest->task_count; i++) {
        struct layout_task *task = &layout->tasks[i];
        task->task = &layout->manifest->tasks[i];
        local_task_name(task->name, submission->id, submission->attempt, task->task->role,
                        task->task->index);
    }
    read_without_root(batch, layout);
    read_network(batch, layout);
}

/* ---- what exists already ---- */

bool layout_has_made(const struct layout *layout, const struct podman_container *container)
{
    return local_is_of_job(layout->specification.local, container, layout->submission->id,
                           layout->submission->attempt) &&
           strcmp(local_label(container, "manifest"), layout->hash) == 0;
}

void layout_adopt(struct layout *layout, struct layout_task *task,
                  const struct podman_container *container, struct arena *arena)
{
    if (!layout_has_made(layout, container)) {
        layout_refuse(layout,
                      "a container named %s is there already and was not made for this job: "
                      "remove it (podman rm %s), or submit the job under another name",
                      task->name, task->name);
        return;
    }
    layout->made = true;
    task->progress = container->state == PODMAN_STATE_CREATED ? TASK_CREATED : TASK_STARTED;
    if (layout->manifest->parallelism)
        layout->specification.at_once = (int)local_label_number(container, "parallelism");
    const char *gpus = local_label(container, "gpus_assigned");
    task->gpus = arena_text(arena, gpus, strlen(gpus));
}

/* Was the container made by an older dlspool, so that it mounts what is at the user's path when it starts? */
static bool is_unheld(const struct podman_container *container)
{
    return sources_are_held() && container->state == PODMAN_STATE_CREATED &&
           !*local_label(container, "sources");
}

/* An earlier try under this token may have made containers from another manifest, since the template may have
 * changed.  Containers that never ran are removed and made again; if one did run, it stays, and the job is
 * refused. */
static void drop_stale(struct local *local, struct layout *layout,
                       struct podman_container *containers, size_t count)
{
    const struct submission *submission = layout->submission;
    bool stale = false, started = false, ran = false, unheld = false;
    for (size_t i = 0; i < count; i++) {
        if (!local_is_of_job(local, &containers[i], submission->id, submission->attempt))
            continue;
        bool made = layout_has_made(layout, &containers[i]);
        bool has_run = containers[i].state != PODMAN_STATE_CREATED;
        stale = stale || !made;
        started = started || (!made && has_run);
        ran = ran || has_run;
        unheld = unheld || is_unheld(&containers[i]);
    }
    if (started) {
        layout_refuse(layout, "attempt %d of this job was started from another manifest already",
                      submission->attempt);
    } else if (unheld && ran && !layout->manifest->parallelism) {
        layout_refuse(layout, "attempt %d of this job was started in part by an older dlspool",
                      submission->attempt);
    } else if (stale || (unheld && !ran)) {
        if (local_remove_objects(local, submission->id, submission->attempt,
                                 &layout->submission->error))
            layout_decide(layout, SUBMIT_UNKNOWN);
        for (size_t i = 0; i < count; i++)
            if (local_is_of_job(local, &containers[i], submission->id, submission->attempt))
                containers[i].state = PODMAN_STATE_GONE;
    }
}

/* An earlier try may have been refused after tasks of it had run, without removing them all.  If the caller
 * knows that outcome, this is a new try. */
static void keep_refusal(struct local *local, struct layout *layout)
{
    char job[LOCAL_NAME_SIZE];
    struct buffer sentence = {0};
    struct error error;
    const struct submission *submission = layout->submission;
    local_job_name(job, submission->id, submission->attempt);
    if (!submission->repeated) {
        if (local_storage_forget_refusal(local->directory, job, &layout->submission->error))
            layout_decide(layout, SUBMIT_UNAVAILABLE);
        return;
    }
    int noted = local_storage_read_refusal(local->directory, job, &sentence, &error);
    if (noted > 0) {
        layout->made = layout->refused = true;
        layout_refuse(layout, "%s", sentence.length ? sentence.data : "an earlier try was refused");
    } else if (noted < 0) {
        layout->submission->error = error;
        layout_decide(layout, SUBMIT_UNKNOWN);
    }
    buffer_free(&sentence);
}

static void look_at_containers(struct batch *batch, struct layout *layout,
                               struct podman_container *containers, size_t count)
{
    size_t started = 0;
    keep_refusal(batch->local, layout);
    if (layout->decided)
        return;
    drop_stale(batch->local, layout, containers, count);
    for (size_t i = 0; i < layout->manifest->task_count && !layout->decided; i++) {
        struct layout_task *task = &layout->tasks[i];
        for (size_t j = 0; j < count && !layout->decided; j++)
            if (containers[j].state != PODMAN_STATE_GONE && text_is(containers[j].name, task->name))
                layout_adopt(layout, task, &containers[j], batch->arena);
        started += task->progress == TASK_STARTED;
    }
    if (layout->decided || !layout->made)
        return;
    layout_note(layout, "adopted from an earlier try");
    /* Where tasks take turns, all containers were made before one was started; the others are started by
     * poll(). */
    if (started == layout->manifest->task_count || (layout->manifest->parallelism && started > 0))
        layout_decide(layout, SUBMIT_ACCEPTED);
}

void layout_match_containers(struct batch *batch, struct podman_container *containers, size_t count)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->layouts[i].decided)
            look_at_containers(batch, &batch->layouts[i], containers, count);
}

/* ---- resources ---- */

static struct demand demand_of_task(const struct local_task *task)
{
    return (struct demand){task->cpus, task->memory, task->gpus, ""};
}

static struct demand demand_of(const struct layout *layout, bool absent_only)
{
    struct demand sum = {0};
    for (size_t i = 0; i < layout->manifest->task_count; i++) {
        const struct local_task *task = layout->tasks[i].task;
        if (absent_only && layout->tasks[i].progress != TASK_ABSENT)
            continue;
        sum.cpus += task->cpus;
        sum.memory += task->memory;
        sum.gpus += task->gpus;
    }
    return sum;
}

/* List the types of this machine's GPUs, each once. */
static void list_types(const struct machine *machine, struct buffer *types)
{
    for (size_t i = 0; i < machine->gpu_count; i++) {
        struct text type = machine->gpu_types[i];
        size_t earlier = 0;
        while (earlier < i && !text_equal(machine->gpu_types[earlier], type))
            earlier++;
        if (type.length && earlier == i)
            buffer_printf(types, "%s%.*s", types->length ? ", " : "", (int)type.length, type.data);
    }
}

/* Has this machine GPUs of the type that the job asks for?  If so, only these count. */
static bool has_type(const struct batch *batch, struct layout *layout,
                     struct free_resources *available)
{
    struct submission *submission = layout->submission;
    const struct machine *machine = &batch->local->machine;
    bool asks = submission->gpu_type.length && demand_of(layout, false).gpus;
    struct text asked = asks ? submission->gpu_type : TEXT("");
    struct error_quote_buffer buffers[2];
    struct buffer types = {0};
    resources_want_gpu_type(available, asked);
    available->gpus_wanted = submission->gpus_wanted;
    if (!asks || resources_count_gpus(machine, asked))
        return true;
    list_types(machine, &types);
    error_quote(&buffers[0], asked.data, asked.length);
    if (types.length)
        error_set(&submission->error,
                  "the job asks for GPUs of the type %s, and this machine's are of the type %s",
                  buffers[0].text, error_quote(&buffers[1], types.data, types.length));
    else
        error_set(
            &submission->error,
            "the job asks for GPUs of the type %s, and local.gpu_type of dlspool.yaml does not "
            "say what type this machine's are; leave gpu_type out to get any",
            buffers[0].text);
    buffer_free(&types);
    layout_decide(layout, SUBMIT_NEVER_FITS);
    return false;
}

/* Does the job fit into this machine, and does it fit now?  The first task that can never fit ends this, so
 * that the sum of the tasks' memory cannot overflow. */
static bool fits_machine(struct layout *layout, struct free_resources *available)
{
    struct submission *submission = layout->submission;
    struct machine machine = *available->machine;
    machine.gpu_count = resources_count_gpus(available->machine, available->gpu_type);
    for (size_t i = 0; i < layout->manifest->task_count; i++) {
        if (resources_fit_ever(&machine, demand_of_task(layout->tasks[i].task),
                               &submission->error)) {
            layout_decide(layout, SUBMIT_NEVER_FITS);
            return false;
        }
    }
    if (layout->manifest->parallelism)
        return true;
    if (resources_fit_ever(&machine, demand_of(layout, false), &submission->error))
        layout_decide(layout, SUBMIT_NEVER_FITS);
    else if (resources_fit_now(available, demand_of(layout, true), &submission->error))
        layout_decide(layout, SUBMIT_NO_ROOM);
    return !layout->decided;
}

/* The task that an earlier try made for this place, or NULL. */
static const struct layout_task *holder_of(const struct layout *layout, size_t place)
{
    for (size_t i = place; i < layout->manifest->task_count;
         i += (size_t)layout->specification.at_once)
        if (layout->tasks[i].progress != TASK_ABSENT)
            return &layout->tasks[i];
    return NULL;
}

/* Assign devices to each place, for all tasks that will have it one after another. */
static void assign_places(struct batch *batch, struct layout *layout,
                          struct free_resources *available, size_t places)
{
    int gpus = layout->manifest->tasks[0].gpus;
    for (size_t place = 0; place < places; place++) {
        const struct layout_task *holder = holder_of(layout, place);
        struct text devices =
            holder ? holder->gpus : resources_assign_gpus(available, batch->arena, gpus);
        for (size_t i = place; i < layout->manifest->task_count;
             i += (size_t)layout->specification.at_once)
            if (layout->tasks[i].progress == TASK_ABSENT)
                layout->tasks[i].gpus = devices;
    }
}

/* Tasks that take turns all ask for the same.  As many as fit are started, and at least one; GPUs are taken
 * for as many as will ever run at once. */
static void take_turns_resources(struct batch *batch, struct layout *layout,
                                 struct free_resources *available)
{
    struct demand one = demand_of_task(layout->tasks[0].task), devices = {0};
    size_t count = layout->manifest->task_count, most = (size_t)layout->specification.at_once;
    if (one.gpus && !layout->made && (size_t)(available->gpus / one.gpus) < most)
        most = available->gpus > one.gpus ? (size_t)(available->gpus / one.gpus) : 1;
    layout->specification.at_once = (int)most;
    most = most < count ? most : count;
    for (size_t place = 0; place < most; place++)
        devices.gpus += holder_of(layout, place) ? 0 : one.gpus;
    one.gpus = 0;
    if (resources_fit_now(available, one, &layout->submission->error) ||
        resources_fit_now(available, devices, &layout->submission->error)) {
        layout_decide(layout, SUBMIT_NO_ROOM);
        return;
    }
    for (layout->starts = 0; layout->starts < most && !resources_fit_now(available, one, NULL);
         layout->starts++)
        resources_take(available, one, (struct text){"", 0});
    assign_places(batch, layout, available, most);
}

static void take_resources(struct batch *batch, struct layout *layout,
                           struct free_resources *available)
{
    if (!has_type(batch, layout, available) || !fits_machine(layout, available))
        return;
    if (layout->manifest->parallelism) {
        take_turns_resources(batch, layout, available);
        return;
    }
    for (size_t i = 0; i < layout->manifest->task_count; i++) {
        struct layout_task *task = &layout->tasks[i];
        if (task->progress != TASK_ABSENT)
            continue;
        struct demand demand = {task->task->cpus, task->task->memory, 0, ""};
        resources_take(available, demand, (struct text){"", 0});
        task->gpus = resources_assign_gpus(available, batch->arena, task->task->gpus);
    }
}

void layout_take_resources(struct batch *batch, const struct podman_container *containers,
                           size_t count)
{
    struct free_resources available;
    local_available(batch->local, batch->arena, &available, containers, count);
    /* Jobs that name a type of GPU come first, as the others can use what they leave. */
    for (int any = 0; any <= 1; any++)
        for (size_t i = 0; i < batch->count; i++)
            if (!batch->layouts[i].decided && any == !batch->layouts[i].submission->gpu_type.length)
                take_resources(batch, &batch->layouts[i], &available);
}

/* ---- the users' paths ---- */

/* Take the paths of the held sources; numbers[i] are those of the i-th task's mounts. */
static void take_sources(struct batch *batch, struct layout *layout, size_t *const *numbers)
{
    const struct sources *sources = &layout->sources;
    for (size_t i = 0; i < layout->manifest->task_count; i++) {
        struct layout_task *task = &layout->tasks[i];
        size_t count = task->task->mount_count;
        task->sources = arena_allocate(batch->arena, (count + 1) * sizeof(struct text));
        for (size_t j = 0; j < count; j++)
            task->sources[j] = sources_path(batch->arena, sources, numbers[i][j]);
    }
    layout->specification.groups = sources->access.groups;
    layout->specification.home = sources->access.home;
    layout->specification.home_source = sources_path(batch->arena, sources, sources->access.count);
}

static void refuse_access(struct layout *layout)
{
    const struct access_check *access = &layout->sources.access;
    layout->submission->error = access->error;
    /* A file server that hangs delays only this job, as a lack of resources does. */
    layout_decide(layout, access->outcome == ACCESS_DENIED ? SUBMIT_REFUSED : SUBMIT_NO_ROOM);
    layout_mender(layout, MENDER_OWNER, access->remedy.data);
}

void layout_hold_sources(struct batch *batch)
{
    size_t most = batch->count + 1, count = 0;
    struct sources **sources = arena_allocate(batch->arena, most * sizeof(struct sources *));
    size_t ***numbers = arena_allocate(batch->arena, most * sizeof(size_t **));
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        if (layout->decided)
            continue;
        numbers[i] = arena_allocate(batch->arena, layout->manifest->task_count * sizeof(size_t *));
        sources_of(batch->arena, &layout->sources, batch->local, layout->submission,
                   layout->manifest, numbers[i]);
        sources[count++] = &layout->sources;
    }
    sources_hold(batch->arena, sources, count, ACCESS_TIMEOUT);
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        if (layout->decided)
            continue;
        if (layout->sources.access.outcome == ACCESS_GRANTED)
            take_sources(batch, layout, numbers[i]);
        else
            refuse_access(layout);
    }
}

/* ---- files ---- */

/* May tasks of the job be started again when they have failed? */
static bool starts_again(const struct layout *layout)
{
    struct arena *arena = arena_new();
    bool again = completion_has_again(completion_of(arena, layout->manifest->complete, NULL));
    arena_free(arena);
    return again;
}

static void write_files(struct layout *layout)
{
    struct submission *submission = layout->submission;
    char job[LOCAL_NAME_SIZE];
    local_job_name(job, submission->id, submission->attempt);
    bool failed =
        local_storage_make_job(layout->specification.local->directory, job, &submission->error);
    layout->made = true;
    if (!failed && layout->manifest->ssh)
        failed = local_storage_write_keys(layout->specification.local->directory, job,
                                          submission->uid, submission->gid, &submission->error);
    for (size_t i = 0; i < layout->manifest->task_count && !failed; i++)
        if (layout->tasks[i].progress == TASK_ABSENT)
            failed = local_write_files(&layout->specification, layout->tasks[i].task,
                                       &submission->error);
    if (!failed && (layout->manifest->parallelism || starts_again(layout)) && sources_are_held())
        failed = sources_write(&layout->sources, &submission->error);
    if (failed)
        layout_decide(layout, SUBMIT_UNAVAILABLE);
}

void layout_write_files(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->layouts[i].decided)
            write_files(&batch->layouts[i]);
}

bool layout_any_left(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->layouts[i].decided)
            return true;
    return false;
}

bool layout_has_started(const struct layout *layout)
{
    for (size_t i = 0; layout->tasks && i < layout->manifest->task_count; i++)
        if (layout->tasks[i].progress == TASK_STARTED)
            return true;
    return false;
}
