/* executors/local/usage.c - the CPUs that running containers may use, and what they have used
 *
 * The kernel is asked, in the container's control group: that costs three small reads, where podman
 * takes some ten milliseconds, and it says what holds now, whoever changed a limit and whether or
 * not we were restarted since.  podman 4 goes on telling the limit that a container was made with.
 *
 * With a container its control group goes, so what it had used is remembered from when it was asked
 * last, in memory only: after a restart of dlspool that of ended tasks is not known.
 */
#include "executors/local/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGES_MAX = 65536 }; /* remembered containers; all are forgotten when there are more */

struct usage {
    char name[LOCAL_NAME_SIZE]; /* of the container */
    struct local_used used;
};

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

static struct usage *find_usage(const struct local *local, struct text name)
{
    for (size_t i = 0; i < local->usage_count; i++)
        if (text_is(name, local->usages[i].name))
            return &local->usages[i];
    return NULL;
}

static void note_usage(struct local *local, struct text name, const struct local_used *used)
{
    struct usage *usage = find_usage(local, name);
    if (!usage) {
        if (local->usage_count >= USAGES_MAX)
            local->usage_count = 0;
        local->usages = memory_grow(local->usages, local->usage_count, &local->usage_buffer,
                                    sizeof(*local->usages));
        usage = &local->usages[local->usage_count++];
        snprintf(usage->name, sizeof(usage->name), "%.*s", (int)name.length, name.data);
    }
    usage->used = *used;
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
    if (used.cpu_time >= 0 || used.memory_peak >= 0)
        note_usage(local, container->name, &used);
    else if (container->state == PODMAN_STATE_ENDED) {
        const struct usage *known = find_usage(local, container->name);
        used = known ? known->used : used;
    }
    return used;
}

void local_forget_usage(struct local *local, const char *id, int attempt)
{
    char job[LOCAL_NAME_SIZE], prefix[LOCAL_NAME_SIZE + 1];
    local_job_name(job, id, attempt);
    size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%s-", job), kept = 0;
    for (size_t i = 0; i < local->usage_count; i++)
        if (strncmp(local->usages[i].name, prefix, length) != 0)
            local->usages[kept++] = local->usages[i];
    local->usage_count = kept;
}

void local_free_usage(struct local *local)
{
    free(local->usages);
    local->usages = NULL;
    local->usage_count = local->usage_buffer = 0;
}
