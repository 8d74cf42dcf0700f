/* executors/local/labels.c - reads what the labels of containers say
 *
 * Whoever may talk to podman can make a container with dlspool's labels, so their values are checked before
 * they are used as numbers or as parts of paths.
 */
#include "executors/local/inside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void local_job_name(char buffer[static LOCAL_NAME_SIZE], const char *id, int attempt)
{
    snprintf(buffer, LOCAL_NAME_SIZE, "%s-a%d", id, attempt);
}

void local_infra_name(char buffer[static LOCAL_NAME_SIZE], const char *id, int attempt)
{
    snprintf(buffer, LOCAL_NAME_SIZE, "%s-a%d-infra", id, attempt);
}

void local_task_name(char buffer[static LOCAL_NAME_SIZE], const char *id, int attempt,
                     struct text role, int index)
{
    snprintf(buffer, LOCAL_NAME_SIZE, "%s-a%d-%.*s-%d", id, attempt, (int)role.length, role.data,
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

static bool is_identifier(const char *text, size_t most)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        bool hyphen = text[i] == '-' && i > 0;
        bool letter = text[i] >= 'a' && text[i] <= 'z';
        if (!letter && !hyphen && !(text[i] >= '0' && text[i] <= '9'))
            return false;
    }
    return length > 0 && length <= most;
}

static bool is_small_number(const char *text)
{
    enum { MOST_DIGITS = 10 };
    size_t length = strspn(text, "0123456789");
    return length > 0 && length <= MOST_DIGITS && !text[length] &&
           strtoll(text, NULL, 10) <= INT_MAX;
}

bool local_is_task(const struct podman_container *container)
{
    const struct task_state *task = NULL;
    return !container->infra && is_identifier(local_label(container, "job"), LOCAL_NAME_SIZE / 2) &&
           is_identifier(local_label(container, "role"), sizeof(task->role) - 1) &&
           is_small_number(local_label(container, "attempt")) &&
           is_small_number(local_label(container, "index"));
}

bool local_is_of_job(const struct local *local, const struct podman_container *container,
                     const char *id, int attempt)
{
    return !container->infra && strcmp(local_label(container, "job"), id) == 0 &&
           local_label_number(container, "attempt") == attempt &&
           strcmp(local_label(container, "spool"), local->spool) == 0;
}

/* Bounded, so that the sum of many cannot overflow; the bound is more than any machine has. */
static int64_t bounded_number(const struct podman_container *container, const char *name,
                              int64_t most)
{
    int64_t number = local_label_number(container, name);
    return number < most ? number : most;
}

struct demand local_label_demand(const struct podman_container *container)
{
    const int64_t most = (int64_t)1 << 48;
    return (struct demand){
        .cpus = bounded_number(container, "cpus", most),
        .memory = bounded_number(container, "memory", most),
        .gpus = (int)bounded_number(container, "gpus", INT_MAX),
    };
}

/* Tasks that wait for their turn take no CPUs and memory, but keep their devices, which other tasks of their
 * job use meanwhile. */
void local_count(const struct local *local, struct free_resources *available,
                 const struct podman_container *containers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct podman_container *container = &containers[i];
        if (container->infra || container->state == PODMAN_STATE_ENDED ||
            container->state == PODMAN_STATE_GONE)
            continue;
        struct demand demand = local_label_demand(container);
        if (local_label_number(container, "parallelism") &&
            container->state == PODMAN_STATE_CREATED)
            demand = (struct demand){0, 0, 0, ""};
        else
            demand.cpus = local_cpus_now(local, container);
        resources_take(available, demand, text_of(local_label(container, "gpus_assigned")));
    }
}
