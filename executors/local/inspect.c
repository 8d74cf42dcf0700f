/* executors/local/inspect.c - checks whether this machine has what the local executor is to use */
#include "executors/local/devices.h"
#include "executors/local/inside.h"

/* Find the devices that this machine lacks: absent[i] is a sentence in the arena, or NULL.  Returns how many.
 * None where the settings name a socket, as that podman may look elsewhere. */
static size_t local_absent(const struct local *local, struct arena *arena, const char ***absent)
{
    size_t count = local->machine.gpu_count;
    *absent = arena_allocate(arena, (count + 1) * sizeof(**absent));
    if (count == 0 || !local->service)
        return 0;
    return devices_find_absent(arena, devices_directories, local->machine.gpus, count, *absent);
}

void local_available(const struct local *local, struct arena *arena,
                     struct free_resources *available, const struct podman_container *containers,
                     size_t count)
{
    const char **absent;
    resources_all_free(available, arena, &local->machine);
    if (local_absent(local, arena, &absent))
        for (size_t i = 0; i < local->machine.gpu_count; i++)
            if (absent[i])
                resources_withhold_gpu(available, i, absent[i]);
    local_count(local, available, containers, count);
}

void local_inspect(struct executor *executor, executor_tell *tell, void *context)
{
    const struct local *local = (struct local *)(void *)executor;
    struct arena *arena = arena_new();
    const char **absent;
    if (local_absent(local, arena, &absent))
        for (size_t i = 0; i < local->machine.gpu_count; i++)
            if (absent[i])
                tell(context, arena_printf(arena, "local.gpus: %s", absent[i]).data);
    arena_free(arena);
}

int local_has_image(struct executor *executor, struct text image, struct error *error)
{
    struct local *local = (struct local *)(void *)executor;
    struct podman_call call = {0};
    if (local_ensure(local, error))
        return -1;
    podman_call_image(&call, image);
    podman_run(local->podman, &call, 1);
    int result = call.outcome == PODMAN_DONE ? 1 : call.outcome == PODMAN_MISSING ? 0 : -1;
    if (result < 0)
        *error = call.error;
    podman_call_free(&call);
    return result;
}
