/* executors/local/resize.c - gives a running task more or fewer CPUs
 *
 * podman's update has the OCI runtime change the container's control group.  That works with v1 and v2,
 * with runc and crun, as root and without, and takes some ten milliseconds.  The program goes on running,
 * and only becomes faster or slower.
 *
 * Neither podman 4 nor dlspool keeps a record of it: a container's CPUs are read from its control group
 * whenever resources are counted (usage.c).  So the change is known after a restart of dlspool, to other
 * spools of this machine, and when a request was lost or made twice.  Where the kernel does not tell the
 * limit of a container, its size is not changed.
 *
 * Containers that get less are updated first, so that others of the same batch can have the rest.  To give
 * more, resources are counted and allocated as for a submission, under the same lock (local_turns_hold()).
 */
#include "executors/local/inside.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "executors/local/turns.h"

enum { PATIENCE = 500 }; /* milliseconds to wait for another process that allocates resources */

/* One job of the batch. */
struct change {
    struct job_resize *job;
    struct podman_container container; /* of its one task */
    int64_t from;                      /* its limit now */
    bool decided;
};

static void decide_change(struct change *change, enum resize_outcome outcome)
{
    change->job->outcome = outcome;
    change->decided = true;
    if (outcome == RESIZE_DONE)
        change->job->error.text[0] = '\0';
}

static void decide_not(struct change *change, enum resize_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void decide_not(struct change *change, enum resize_outcome outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_list(&change->job->error, format, arguments);
    va_end(arguments);
    decide_change(change, outcome);
}

bool local_resizable(struct executor *executor, struct text manifest, enum size_kind kind)
{
    (void)executor;
    struct arena *arena = arena_new();
    struct error error;
    const struct local_manifest *read =
        kind == SIZE_CPUS ? local_manifest_read(arena, manifest, &error) : NULL;
    bool can = read && read->task_count == 1 && !read->parallelism;
    arena_free(arena);
    return can;
}

/* ---- what is there ---- */

static void read_size(const struct local *local, struct change *change)
{
    const struct job_resize *job = change->job;
    int64_t limit = local_cpus_limit(local, &change->container);
    if (local_label_number(&change->container, "tasks") != 1)
        decide_not(change, RESIZE_NOT_POSSIBLE,
                   "the job has several tasks, and only one task's CPUs can be changed");
    else if (change->container.state != PODMAN_STATE_RUNNING)
        decide_not(change, RESIZE_UNAVAILABLE, "the job's container does not run at the moment");
    else if (limit <= 0)
        decide_not(change, RESIZE_NOT_POSSIBLE,
                   "this machine's kernel sets the container no limit of CPUs that could be "
                   "changed");
    else if (limit == job->size)
        decide_change(change, RESIZE_DONE);
    change->from = limit;
}

static void find_container(const struct local *local, struct change *change,
                           const struct podman_container *containers, size_t count)
{
    const struct job_resize *job = change->job;
    change->container = (struct podman_container){.state = PODMAN_STATE_GONE};
    for (size_t i = 0; i < count; i++)
        if (local_is_of_job(local, &containers[i], job->id, job->attempt) &&
            change->container.state != PODMAN_STATE_RUNNING)
            change->container = containers[i];
    if (change->container.state == PODMAN_STATE_GONE)
        decide_not(change, RESIZE_UNAVAILABLE, "podman has no container of this job");
    else
        read_size(local, change);
}

/* ---- resources ---- */

/* The rest of a batch cannot have the resources that it needs now. */
static void put_off(struct change *changes, size_t count, const char *sentence)
{
    for (size_t i = 0; i < count; i++)
        if (!changes[i].decided && changes[i].job->size > changes[i].from)
            decide_not(&changes[i], RESIZE_UNAVAILABLE, "%s", sentence);
}

static void take_resources(struct change *change, struct free_resources *available)
{
    struct job_resize *job = change->job;
    struct demand more = {.cpus = job->size - change->from};
    struct demand whole = {.cpus = job->size};
    if (resources_fit_ever(available->machine, whole, &job->error))
        decide_change(change, RESIZE_NOT_POSSIBLE);
    else if (resources_fit_now(available, more, &job->error))
        decide_change(change, RESIZE_NO_ROOM);
    else
        resources_take(available, more, (struct text){"", 0});
}

/* ---- doing it ---- */

/* podman's message says little ("runc update failed: exit status 1"), so look whether the container still
 * runs. */
static void note_failure(struct local *local, struct arena *arena, struct change *change,
                         const struct podman_call *call)
{
    struct podman_call look = {0};
    struct podman_container now = {0};
    if (call->outcome == PODMAN_TROUBLE || call->outcome == PODMAN_DOWN ||
        call->outcome == PODMAN_UNKNOWN) {
        decide_not(change, RESIZE_UNAVAILABLE, "podman could not be asked: %s", call->error.text);
        return;
    }
    podman_call_inspect(&look, change->container.id.data);
    podman_run(local->podman, &look, 1);
    bool runs = look.outcome == PODMAN_DONE &&
                podman_read_inspection(&look, arena, &now, NULL) == 0 &&
                now.state == PODMAN_STATE_RUNNING;
    podman_call_free(&look);
    if (runs)
        decide_not(change, RESIZE_NOT_POSSIBLE,
                   "podman does not change the container's CPUs (that needs podman 4.3 or "
                   "later): %s",
                   call->error.text);
    else
        decide_not(change, RESIZE_UNAVAILABLE, "the job's container does not run at the moment");
}

/* Decide by the limit that the kernel reports now. */
static void note_result(struct local *local, struct arena *arena, struct change *change,
                        const struct podman_call *call)
{
    char wanted[QUANTITY_TEXT_SIZE], found[QUANTITY_TEXT_SIZE];
    int64_t limit = local_cpus_limit(local, &change->container);
    if (limit == change->job->size)
        decide_change(change, RESIZE_DONE);
    else if (call->outcome != PODMAN_DONE)
        note_failure(local, arena, change, call);
    else if (limit < 0)
        decide_not(change, RESIZE_UNAVAILABLE, "the job's container ended meanwhile");
    else
        decide_not(change, RESIZE_NOT_POSSIBLE,
                   "podman said that the container has %s CPUs now, and the kernel says %s",
                   quantity_format_cpus(change->job->size, wanted),
                   quantity_format_cpus(limit, found));
}

/* Update the undecided containers: either those that take less, or those that take more. */
static void update_containers(struct local *local, struct arena *arena, struct change *changes,
                              size_t count, bool more)
{
    struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
    struct change **subjects = arena_allocate(arena, (count + 1) * sizeof(struct change *));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        struct change *change = &changes[i];
        if (change->decided || (change->job->size > change->from) != more)
            continue;
        podman_call_update(&calls[used], change->container.id.data, change->job->size);
        subjects[used++] = change;
    }
    podman_run(local->podman, calls, used);
    for (size_t i = 0; i < used; i++) {
        note_result(local, arena, subjects[i], &calls[i]);
        podman_call_free(&calls[i]);
    }
}

static bool any_left(const struct change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!changes[i].decided)
            return true;
    return false;
}

static void grow_containers(struct local *local, struct arena *arena, struct change *changes,
                            size_t count)
{
    struct podman_container *containers;
    size_t container_count;
    struct error error;
    struct free_resources available;
    int held = local_turns_hold(local, PATIENCE);
    if (held < 0) {
        put_off(changes, count, "other jobs are being started");
        return;
    }
    if (local_list(local, arena, true, &containers, &container_count, &error)) {
        put_off(changes, count, error.text);
    } else {
        local_available(local, arena, &available, containers, container_count);
        for (size_t i = 0; i < count; i++)
            if (!changes[i].decided)
                take_resources(&changes[i], &available);
        update_containers(local, arena, changes, count, true);
    }
    local_turns_release(held);
}

void local_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    struct local *local = (struct local *)(void *)executor;
    struct arena *arena = arena_new();
    struct change *changes = arena_allocate(arena, (count + 1) * sizeof(*changes));
    struct podman_container *containers = NULL;
    size_t container_count = 0;
    struct error error;
    for (size_t i = 0; i < count; i++) {
        changes[i].job = batch[i];
        if (batch[i]->kind != SIZE_CPUS)
            decide_not(&changes[i], RESIZE_NOT_POSSIBLE,
                       "the tasks and GPUs of a running job cannot be changed on one machine");
    }
    bool asked = local_ensure(local, &error) == 0 &&
                 local_list(local, arena, false, &containers, &container_count, &error) == 0;
    for (size_t i = 0; i < count; i++) {
        if (!changes[i].decided && !asked)
            decide_not(&changes[i], RESIZE_UNAVAILABLE, "%s", error.text);
        if (!changes[i].decided)
            find_container(local, &changes[i], containers, container_count);
    }
    update_containers(local, arena, changes, count, false);
    if (any_left(changes, count))
        grow_containers(local, arena, changes, count);
    arena_free(arena);
}
