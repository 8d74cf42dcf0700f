/* executors/local/outer_group.c - the control group around a container's own, which stays when it has ended */
#include "executors/local/outer_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define PARENT "/libpod_parent"
#define CONMON "/conmon"

enum { PREFIX_SIZE = 32 };

static const int64_t settled =
    60000; /* milliseconds after which nobody is about to use a new group */

/* What the groups of this spool's containers begin with, below podman's own. */
static void prefix_of(const struct local *local, char prefix[static PREFIX_SIZE])
{
    snprintf(prefix, PREFIX_SIZE, "dlspool-%s-", local->executor.identity);
}

void outer_group_path(const struct local *local, struct text container,
                      char path[static OUTER_GROUP_SIZE])
{
    char prefix[PREFIX_SIZE];
    path[0] = '\0';
    if (local->settings.socket.length || geteuid() != 0 || !local->executor.identity[0])
        return;
    prefix_of(local, prefix);
    snprintf(path, OUTER_GROUP_SIZE, PARENT "/%s%.*s", prefix, (int)container.length,
             container.data);
}

/* The container's group and the part of it that supervises.  -1: there is no such group. */
static int find_groups(const struct local *local, struct text container, struct control_group *all,
                       struct control_group *conmon)
{
    char path[OUTER_GROUP_SIZE];
    outer_group_path(local, container, path);
    if (!path[0] || control_group_at(&local->mounts, path, all))
        return -1;
    strncat(path, CONMON, sizeof(path) - strlen(path) - 1);
    return control_group_at(&local->mounts, path, conmon);
}

/* What both have, without the part of the others; -1: not known. */
static int64_t without(int64_t both, int64_t others)
{
    return both < 0 || others < 0 ? -1 : both > others ? both - others : 0;
}

int64_t outer_group_cpu_time(const struct local *local, struct text container)
{
    struct control_group all, conmon;
    return find_groups(local, container, &all, &conmon)
               ? -1
               : without(control_group_cpu_time(&all), control_group_cpu_time(&conmon));
}

int64_t outer_group_memory_peak(const struct local *local, struct text container)
{
    struct control_group all, conmon;
    return find_groups(local, container, &all, &conmon)
               ? -1
               : without(control_group_memory_peak(&all), control_group_memory_peak(&conmon));
}

static void remove_path(const struct local *local, char path[static OUTER_GROUP_SIZE])
{
    size_t length = strlen(path);
    strncat(path, CONMON, OUTER_GROUP_SIZE - length - 1);
    control_group_remove(&local->mounts, path);
    path[length] = '\0';
    control_group_remove(&local->mounts, path);
}

void outer_group_remove(const struct local *local, struct text container)
{
    char path[OUTER_GROUP_SIZE];
    outer_group_path(local, container, path);
    if (path[0])
        remove_path(local, path);
}

static bool is_among(const struct podman_container *containers, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(containers[i].name, name))
            return true;
    return false;
}

/* A group that has just been made is for a container that was not listed yet. */
static bool is_settled(DIR *directory, const char *name)
{
    struct stat status;
    return fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode) && (int64_t)status.st_mtim.tv_sec * 1000 < clock_now() - settled;
}

void outer_group_sweep(const struct local *local, const struct podman_container *containers,
                       size_t count)
{
    char prefix[PREFIX_SIZE];
    struct control_group parent;
    if (control_group_at(&local->mounts, PARENT, &parent))
        return;
    prefix_of(local, prefix);
    DIR *directory = opendir(parent.cpuacct);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct text name = text_of(entry->d_name);
        if (!text_starts(name, prefix) || !is_settled(directory, entry->d_name))
            continue;
        name = text_of(entry->d_name + strlen(prefix));
        if (!is_among(containers, count, name))
            outer_group_remove(local, name);
    }
    if (directory)
        closedir(directory);
}
