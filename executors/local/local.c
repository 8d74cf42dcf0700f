/* executors/local/local.c - the local executor: podman on this machine */
#include "executors/local/inside.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/above.h"
#include "base/log.h"
#include "base/names.h"
#include "base/system.h"
#include "executors/local/storage.h"
#include "executors/local/turns.h"
#include "executors/nodes.h"

int local_ensure(struct local *local, struct error *error)
{
    if (local->service)
        return podman_service_ensure(local->service, local->podman, error);
    struct podman_call call = {0};
    podman_call_ping(&call, local->settings.request_timeout);
    podman_run(local->podman, &call, 1);
    int result = call.outcome == PODMAN_DONE
                     ? 0
                     : error_set(error,
                                 "podman does not answer at %s, the socket that local.socket "
                                 "names: %s",
                                 local->settings.socket.data, call.error.text);
    podman_call_free(&call);
    return result;
}

int local_list(struct local *local, struct arena *arena, bool all_spools,
               struct podman_container **containers, size_t *count, struct error *error)
{
    struct text label =
        all_spools ? TEXT("dlspool.spool") : arena_printf(arena, "dlspool.spool=%s", local->spool);
    return podman_list(local->podman, arena, label.data, containers, count, error);
}

static int local_ready(struct executor *executor, struct error *error)
{
    return local_ensure((struct local *)(void *)executor, error);
}

/* Add the GPUs of each type that dlspool.yaml names, and those without one. */
static void add_gpus(struct nodes *nodes, struct node *node, struct free_resources *available)
{
    const struct machine *machine = available->machine;
    int all = available->gpus, typed = 0, typed_free = 0;
    for (size_t i = 0; i < machine->gpu_count; i++) {
        struct text type = machine->gpu_types[i];
        size_t known = 0;
        while (known < node->gpu_type_count && !text_is(type, node->gpu_types[known].type))
            known++;
        if (!type.length || known < node->gpu_type_count || known == MOST_GPU_TYPES)
            continue;
        resources_want_gpu_type(available, type);
        int count = (int)resources_count_gpus(machine, type);
        nodes_add_gpus(nodes, node, type, count, count - available->gpus);
        typed += count;
        typed_free += available->gpus;
    }
    int others = (int)machine->gpu_count - typed;
    nodes_add_gpus(nodes, node, TEXT(""), others, others - (all - typed_free));
}

/* This machine, less what containers of all spools have. */
static int local_nodes(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                       struct error *error)
{
    struct local *local = (struct local *)(void *)executor;
    if (local_ensure(local, error))
        return -1;
    struct arena *arena = arena_new();
    struct podman_container *containers;
    char host[HOST_NAME_MAX + 1] = "";
    size_t count;
    int result = local_list(local, arena, true, &containers, &count, error);
    if (result == 0) {
        struct free_resources available;
        local_available(local, arena, &available, containers, count);
        gethostname(host, sizeof(host) - 1);
        struct node *node = nodes_add(nodes, text_of(host));
        node->state = NODE_READY;
        node->cpus = local->machine.cpus;
        node->cpus_free = available.cpus;
        node->memory = local->machine.memory;
        node->memory_free = available.memory;
        add_gpus(nodes, node, &available);
        nodes_clamp(node);
        nodes_sum(nodes, capacity);
        capacity->nodes = capacity->nodes_ready = 0; /* there is only this */
    }
    arena_free(arena);
    return result;
}

static int local_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    struct nodes *nodes = nodes_new();
    int result = local_nodes(executor, capacity, nodes, error);
    nodes_free(nodes);
    return result;
}

static void local_stop(struct executor *executor)
{
    struct local *local = (struct local *)(void *)executor;
    struct error error;
    if (local->service && podman_service_stop(local->service, &error))
        log_warn("%s", error.text);
}

static void local_close(struct executor *executor)
{
    if (!executor)
        return;
    struct local *local = (struct local *)(void *)executor;
    local_free_logs(local);
    names_free(local->cpu_times);
    names_free(local->memory_peaks);
    names_free(local->counted);
    local_free_images(local);
    local_turns_free(local);
    names_free(local->started_again);
    mountable_close(&local->mountable);
    podman_close(local->podman);
    podman_service_close(local->service);
    if (local->directory >= 0)
        sys.close(local->directory);
    free(local->spool);
    free(local->storage);
    arena_free(local->arena);
    free(local);
}

static const struct executor_operations operations = {
    .name = "local",
    .of_this_machine = true,
    .ready = local_ready,
    .submit = local_submit,
    .poll = local_poll,
    .cancel = local_cancel,
    .output = local_output,
    .remove = local_remove,
    .needs = local_needs,
    .capacity = local_capacity,
    .nodes = local_nodes,
    .inspect = local_inspect,
    .has_image = local_has_image,
    .resizable = local_resizable,
    .resize = local_resize,
    .signal = local_signal,
    .suspend = local_suspend,
    .list = local_list_jobs,
    .stop = local_stop,
    .close = local_close,
};

/* Is catatonit where podman 4 looks for the first process of a container?  It passes signals on, which most
 * programs ignore when they are the first process, and reaps orphans. */
static bool find_init(void)
{
    static const char *const paths[] = {
        "/usr/libexec/podman/catatonit", "/usr/local/libexec/podman/catatonit",
        "/usr/local/lib/podman/catatonit", "/usr/lib/podman/catatonit", "/usr/bin/catatonit"};
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
        if (access(paths[i], X_OK) == 0)
            return true;
    return false;
}

static char *storage_path(const struct local_settings *settings, const char *directory)
{
    if (settings->storage.length)
        return memory_copy_string(settings->storage.data);
    struct buffer path = {0};
    buffer_printf(&path, "%s/.podman", directory);
    return path.data;
}

static int open_parts(struct local *local, const char *directory, struct error *error)
{
    local->directory = local_storage_open(local->storage, error);
    /* .podman lies in the spool, which whoever serves it has checked. */
    if (local->directory >= 0 && local->settings.storage.length && geteuid() == 0 &&
        above_check(local->directory, "local.storage", NULL, 0, error))
        return -1;
    if (local->directory < 0 || mountable_open(&local->mountable, directory, local->storage, error))
        return -1;
    const char *socket = local->settings.socket.data;
    if (local->settings.socket.length == 0) {
        local->service =
            podman_service_open(local->storage, local->directory, &local->settings, error);
        if (!local->service)
            return -1;
        socket = podman_service_socket(local->service);
    }
    local->podman =
        podman_open(socket, local->settings.request_timeout, local->settings.in_flight, error);
    return local->podman ? 0 : -1;
}

struct executor *executor_local_open(const struct value *settings, const char *spool,
                                     const char *directory, struct error *error)
{
    struct local *local = memory_allocate(sizeof(*local));
    *local = (struct local){
        .executor = {.operations = &operations},
        .arena = arena_new(),
        .spool = memory_copy_string(spool),
        .directory = -1,
        .has_init = find_init(),
    };
    control_group_mounts("/proc", &local->mounts);
    if (local_settings_read(&local->settings, local->arena, settings, error)) {
        local_close(&local->executor);
        return NULL;
    }
    local->executor.suspends = local->settings.suspend;
    local->machine = (struct machine){
        .cpus = local->settings.cpus,
        .memory = local->settings.memory,
        .gpus = local->settings.gpus,
        .gpu_count = local->settings.gpu_count,
        .gpu_types = local->settings.gpu_types,
    };
    local->storage = storage_path(&local->settings, directory);
    if (open_parts(local, directory, error)) {
        local_close(&local->executor);
        return NULL;
    }
    return &local->executor;
}
