/* executors/local/end.c - signals, stops and removes a job's containers */
#include "executors/local/inside.h"

#include <stdio.h>
#include <string.h>

#include "executors/local/numbers.h"
#include "executors/local/outer_group.h"
#include "executors/local/sources.h"
#include "executors/local/storage.h"
#include "executors/local/turns.h"

/* The containers of a job's tasks, in an array of their own; -1 and a sentence. */
static int local_list_job(struct local *local, struct arena *arena, const char *id, int attempt,
                          struct podman_container **containers, size_t *count, struct error *error)
{
    struct text label = arena_printf(arena, "dlspool.job=%s", id);
    if (podman_list(local->podman, arena, label.data, containers, count, error))
        return -1;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (local_is_of_job(local, &(*containers)[i], id, attempt))
            (*containers)[kept++] = (*containers)[i];
    *count = kept;
    return 0;
}

static const char *name_of(const struct podman_container *container)
{
    return container->name.data ? container->name.data : container->id.data;
}

/* Run the calls and free them.  A container that is gone, or already in the wanted state, is a success. */
static int local_run_calls(struct local *local, struct podman_call *calls, size_t count,
                           struct error *error)
{
    int result = 0;
    podman_run(local->podman, calls, count);
    for (size_t i = 0; i < count; i++) {
        enum podman_outcome outcome = calls[i].outcome;
        if (outcome != PODMAN_DONE && outcome != PODMAN_ALREADY && outcome != PODMAN_MISSING)
            result = error_set(error, "%s %s: %s", calls[i].http.method, calls[i].path.data,
                               calls[i].error.text);
        podman_call_free(&calls[i]);
    }
    return result;
}

/* What stands still takes no signal. */
static int go_on(struct local *local, const struct job_call *call,
                 const struct podman_container *containers, size_t count, struct arena *arena,
                 struct error *error)
{
    struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (containers[i].paused &&
            executor_call_names_task(call, (int)local_label_number(&containers[i], "index")))
            podman_call_pause(&calls[used++], name_of(&containers[i]), false);
    return local_run_calls(local, calls, used, error);
}

/* End the tasks of a job: those that wait are removed, unless single tasks are meant, and those
 * that run get a signal. */
static int cancel_one(struct executor *executor, struct job_call *call)
{
    struct local *local = (struct local *)(void *)executor;
    struct error *error = &call->error;
    if (local_ensure(local, error))
        return -1;
    struct arena *arena = arena_new();
    struct podman_container *containers;
    size_t count;
    int result = local_list_job(local, arena, call->id, call->attempt, &containers, &count, error);
    if (result == 0) {
        struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
        size_t removed = 0, killed = 0;
        /* Tasks that have not begun are removed first, so that they do not take others' turns.  Of single
         * tasks the container stays, or the job would lack one; poll() sees to it that it is not started. */
        for (size_t i = 0; i < count && !call->task_count; i++)
            if (containers[i].state != PODMAN_STATE_RUNNING &&
                containers[i].state != PODMAN_STATE_ENDED)
                podman_call_remove(&calls[removed++], name_of(&containers[i]));
        result = local_run_calls(local, calls, removed, error);
        if (go_on(local, call, containers, count, arena, error))
            result = -1;
        for (size_t i = 0; i < count; i++)
            if (containers[i].state == PODMAN_STATE_RUNNING &&
                executor_call_names_task(call, (int)local_label_number(&containers[i], "index")))
                podman_call_kill(&calls[removed + killed++], name_of(&containers[i]),
                                 call->force ? "KILL" : "TERM");
        if (local_run_calls(local, calls + removed, killed, error))
            result = -1;
    }
    arena_free(arena);
    return result;
}

void local_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    struct local *local = (struct local *)(void *)executor;
    executor_one_by_one(executor, batch, count, cancel_one, local->settings.request_timeout);
}

/* Where dlspool cannot see which processes catch the signal (for example because podman is another user's),
 * podman sends it to the first process, which passes it on to the task's command only. */
static void prepare_signal(struct local *local, const struct podman_container *container,
                           int number, struct podman_call *calls, size_t *count)
{
    struct control_group group;
    char name[16];
    if (container->state != PODMAN_STATE_RUNNING)
        return;
    if (control_group_find("/proc", &local->mounts, container->process, container->id, &group) ==
            0 &&
        control_group_signal("/proc", &group, container->id, number) >= 0)
        return;
    snprintf(name, sizeof(name), "%d", number);
    podman_call_kill(&calls[(*count)++], name_of(container), name);
}

static int signal_one(struct executor *executor, struct job_call *call)
{
    struct local *local = (struct local *)(void *)executor;
    if (local_ensure(local, &call->error))
        return -1;
    struct arena *arena = arena_new();
    struct podman_container *containers;
    size_t count;
    int result =
        local_list_job(local, arena, call->id, call->attempt, &containers, &count, &call->error);
    if (result == 0) {
        struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
        size_t used = 0;
        for (size_t i = 0; i < count; i++)
            if (executor_call_names_task(call, (int)local_label_number(&containers[i], "index")))
                prepare_signal(local, &containers[i], call->signal, calls, &used);
        result = local_run_calls(local, calls, used, &call->error);
    }
    arena_free(arena);
    return result;
}

void local_signal(struct executor *executor, struct job_call **batch, size_t count)
{
    struct local *local = (struct local *)(void *)executor;
    executor_one_by_one(executor, batch, count, signal_one, local->settings.request_timeout);
}

/* 1: the pod of the job's name is the job's; 0: there is none, or it is somebody else's; -1 and a
 * sentence: podman does not say. */
static int has_pod(struct local *local, struct arena *arena, const char *id, int attempt,
                   struct error *error)
{
    char name[LOCAL_NAME_SIZE];
    struct podman_call call = {0};
    local_job_name(name, id, attempt);
    podman_call_inspect_pod(&call, name);
    podman_run(local->podman, &call, 1);
    int ours = 0;
    if (call.outcome == PODMAN_DONE) {
        struct podman_container pod = {0};
        ours = podman_read_pod(&call, arena, &pod.labels, error);
        if (ours == 0)
            ours = local_is_of_job(local, &pod, id, attempt);
    } else if (call.outcome != PODMAN_MISSING) {
        ours = error_set(error, "%s %s: %s", call.http.method, call.path.data, call.error.text);
    }
    podman_call_free(&call);
    return ours;
}

int local_remove_containers(struct local *local, const char *id, int attempt, struct error *error)
{
    struct arena *arena = arena_new();
    struct podman_container *containers;
    size_t count;
    char name[LOCAL_NAME_SIZE];
    local_job_name(name, id, attempt);
    int result = local_list_job(local, arena, id, attempt, &containers, &count, error);
    if (result == 0) {
        bool alone = count == 1 && local_label_number(&containers[0], "tasks") == 1;
        struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
        for (size_t i = 0; i < count; i++)
            podman_call_remove(&calls[i], name_of(&containers[i]));
        result = local_run_calls(local, calls, count, error);
        for (size_t i = 0; result == 0 && i < count; i++)
            outer_group_remove(local, containers[i].name);
        int pod = result == 0 && !alone ? has_pod(local, arena, id, attempt, error) : 0;
        if (pod > 0) {
            podman_call_remove_pod(&calls[0], name);
            result = local_run_calls(local, calls, 1, error);
        } else if (pod < 0) {
            result = -1;
        }
    }
    arena_free(arena);
    return result;
}

static int suspend_one(struct executor *executor, struct job_call *call)
{
    struct local *local = (struct local *)(void *)executor;
    struct error *error = &call->error;
    if (local_ensure(local, error))
        return -1;
    struct arena *arena = arena_new();
    struct podman_container *containers;
    size_t count, used = 0;
    int result = local_list_job(local, arena, call->id, call->attempt, &containers, &count, error);
    if (result == 0) {
        struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
        for (size_t i = 0; i < count; i++)
            if (containers[i].state == PODMAN_STATE_RUNNING &&
                containers[i].paused != call->suspend)
                podman_call_pause(&calls[used++], name_of(&containers[i]), call->suspend);
        result = local_run_calls(local, calls, used, error);
    }
    arena_free(arena);
    return result;
}

void local_suspend(struct executor *executor, struct job_call **batch, size_t count)
{
    struct local *local = (struct local *)(void *)executor;
    executor_one_by_one(executor, batch, count, suspend_one, local->settings.request_timeout);
}

int local_remove_objects(struct local *local, const char *id, int attempt, struct error *error)
{
    char name[LOCAL_NAME_SIZE];
    local_job_name(name, id, attempt);
    if (local_remove_containers(local, id, attempt, error))
        return -1;
    sources_drop(local, name);
    return local_storage_remove_job(local->directory, name, error);
}

static int remove_one(struct executor *executor, struct job_call *call)
{
    struct local *local = (struct local *)(void *)executor;
    if (local_ensure(local, &call->error) ||
        local_remove_objects(local, call->id, call->attempt, &call->error))
        return error_prefix(&call->error, "the containers of %s could not be removed", call->id);
    local_forget_logs(local, call->id, call->attempt);
    local_turns_forget(local, call->id, call->attempt);
    local_numbers_forget(local->started_again, call->id, call->attempt);
    local_numbers_forget(local->cpu_times, call->id, call->attempt);
    local_numbers_forget(local->memory_peaks, call->id, call->attempt);
    local_numbers_forget(local->counted, call->id, call->attempt);
    return 0;
}

void local_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    struct local *local = (struct local *)(void *)executor;
    executor_one_by_one(executor, batch, count, remove_one, local->settings.request_timeout);
}

/* A label names the spool by its path, which may be the same in two containers that share a podman; there the
 * identity decides.  In dlspool's own podman, containers of an older dlspool, which have none, count too. */
static bool is_certainly_ours(const struct local *local, const struct podman_container *container)
{
    const char *identity = local_label(container, "identity");
    if (!*identity)
        return !local->settings.socket.length;
    return strcmp(identity, local->executor.identity) == 0;
}

int local_list_jobs(struct executor *executor, executor_take *take, void *context,
                    struct error *error)
{
    struct local *local = (struct local *)(void *)executor;
    struct podman_container *containers;
    size_t count;
    struct arena *arena = arena_new();
    int result =
        local_ensure(local, error) || local_list(local, arena, false, &containers, &count, error)
            ? -1
            : 0;
    for (size_t i = 0; result == 0 && i < count; i++)
        if (local_is_task(&containers[i]) && is_certainly_ours(local, &containers[i]))
            take(context, local_label(&containers[i], "job"),
                 (int)local_label_number(&containers[i], "attempt"));
    if (result == 0)
        outer_group_sweep(local, containers, count);
    arena_free(arena);
    return result;
}
