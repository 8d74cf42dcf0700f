/* executors/local_labels.c - reading back what the labels of containers say */
#include "executors/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void local_job_name(char room[static LOCAL_NAME_SIZE], const char *id, int attempt)
{
    snprintf(room, LOCAL_NAME_SIZE, "%s-a%d", id, attempt);
}

void local_infra_name(char room[static LOCAL_NAME_SIZE], const char *id, int attempt)
{
    snprintf(room, LOCAL_NAME_SIZE, "%s-a%d-infra", id, attempt);
}

void local_task_name(char room[static LOCAL_NAME_SIZE], const char *id, int attempt,
                     struct text role, int index)
{
    snprintf(room, LOCAL_NAME_SIZE, "%s-a%d-%.*s-%d", id, attempt, (int)role.length, role.data,
             index);
}

const char *local_label(const struct podman_container *container, const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "dlspool.%s", name);
    struct text text = value_get_text(container->labels, key);
    return text.data ? text.data : "";
}

int64_t local_label_number(const struct podman_container *container, const char *name)
{
    const char *text = local_label(container, name);
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno || end == text || *end || number < 0 ? 0 : number;
}

bool local_is_of_job(const struct local *local, const struct podman_container *container,
                     const char *id, int attempt)
{
    return !container->infra && strcmp(local_label(container, "job"), id) == 0 &&
           local_label_number(container, "attempt") == attempt &&
           strcmp(local_label(container, "spool"), local->spool) == 0;
}

struct demand local_label_demand(const struct podman_container *container)
{
    return (struct demand){
        .cpus = local_label_number(container, "cpus"),
        .memory = local_label_number(container, "memory"),
        .gpus = (int)local_label_number(container, "gpus"),
    };
}

void local_count(struct room *room, const struct podman_container *containers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!containers[i].infra && containers[i].state != PODMAN_STATE_ENDED &&
            containers[i].state != PODMAN_STATE_GONE)
            room_take(room, local_label_demand(&containers[i]),
                      text_of(local_label(&containers[i], "gpus_assigned")));
}
