/* executors/local/usage.c - the CPUs that containers may use, and the processor time and memory that they have used
 *
 * These are read from the container's control group.  That is three small reads where podman takes some
 * ten milliseconds, and it is the present limit, whoever set it and whether or not dlspool was
 * restarted since; podman 4 goes on telling the limit with which a container was created.
 *
 * A control group is removed when its container ends; the group around it (outer_group.h), where there is one, still
 * tells the CPU time, and how much memory it held at least.  What was read last is kept by this process alone, so
 * without such a group it is not known after a restart of dlspool of tasks that have ended.
 */
#include "executors/local/inside.h"

#include "executors/local/numbers.h"
#include "executors/local/outer_group.h"

int64_t local_cpus_limit(const struct local *local, const struct podman_container *container)
{
    struct control_group group;
    if (control_group_find("/proc", &local->mounts, container->process, container->id, &group))
        return -1;
    return control_group_cpus(&group);
}

int64_t local_cpus_now(const struct local *local, const struct podman_container *container)
{
    int64_t limit = container->process ? local_cpus_limit(local, container) : -1;
    return limit > 0 ? limit : local_label_demand(container).cpus;
}

/* What the kernel said, which is remembered; or, of a container that has ended, what it said last. */
static int64_t keep_last(struct names **numbers, const struct podman_container *container,
                         int64_t said)
{
    if (said >= 0)
        *local_numbers_at(numbers, container->name) = said;
    const int64_t *known = said < 0 && container->state == PODMAN_STATE_ENDED && *numbers
                               ? names_find(*numbers, container->name)
                               : NULL;
    return known ? *known : said;
}

/* What the group around the container's own has counted; of one that has ended it is read once, its memory then
 * alone: before, the container's own group tells that. */
static struct local_used outer_used(struct local *local, const struct podman_container *container)
{
    struct local_used used = {.cpu_time = -1, .memory_peak = -1};
    int64_t ended = container->state == PODMAN_STATE_ENDED ? container->ended : 0;
    const int64_t *read =
        ended && local->counted ? names_find(local->counted, container->name) : NULL;
    if (!container->started || (read && *read == ended))
        return used;
    used.cpu_time = outer_group_cpu_time(local, container->name);
    if (ended) {
        used.memory_peak = outer_group_memory_peak(local, container->name);
        *local_numbers_at(&local->counted, container->name) = ended;
    }
    return used;
}

struct local_used local_used_by(struct local *local, const struct podman_container *container)
{
    struct control_group group;
    struct local_used used = {.cpu_time = -1, .memory_peak = -1};
    if (container->process && control_group_find("/proc", &local->mounts, container->process,
                                                 container->id, &group) == 0) {
        used.cpu_time = control_group_cpu_time(&group);
        used.memory_peak = control_group_memory_peak(&group);
    }
    struct local_used outer = outer_used(local, container);
    used.cpu_time = outer.cpu_time >= 0 ? outer.cpu_time : used.cpu_time;
    used.cpu_time = keep_last(&local->cpu_times, container, used.cpu_time);
    used.memory_peak = keep_last(&local->memory_peaks, container, used.memory_peak);
    if (outer.memory_peak > 0 && outer.memory_peak > used.memory_peak)
        used.memory_peak = keep_last(&local->memory_peaks, container, outer.memory_peak);
    return used;
}
