/* executors/local/usage.c - the CPUs that containers may use, and the processor time and memory that they have used
 *
 * These are read from the container's control group.  That is three small reads where podman takes some
 * ten milliseconds, and it is the present limit, whoever set it and whether or not dlspool was
 * restarted since; podman 4 goes on telling the limit with which a container was created.
 *
 * A control group is removed when its container ends.  The last time that was read is kept in memory, so
 * after a restart of dlspool what ended tasks have used is not known.
 */
#include "executors/local/inside.h"

#include "executors/local/numbers.h"

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

struct local_used local_used_by(struct local *local, const struct podman_container *container)
{
    struct control_group group;
    struct local_used used = {.cpu_time = -1, .memory_peak = -1};
    if (container->process && control_group_find("/proc", &local->mounts, container->process,
                                                 container->id, &group) == 0) {
        used.cpu_time = control_group_cpu_time(&group);
        used.memory_peak = control_group_memory_peak(&group);
    }
    used.cpu_time = keep_last(&local->cpu_times, container, used.cpu_time);
    used.memory_peak = keep_last(&local->memory_peaks, container, used.memory_peak);
    return used;
}
