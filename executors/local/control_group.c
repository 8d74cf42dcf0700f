/* executors/local/control_group.c - what the kernel limits and counts for a container: its control group
 */
#include "executors/local/control_group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

enum {
    MOUNTS_LIMIT = 16 << 20, /* bytes; each container of the machine has a few lines */
    MEMBERS_LIMIT = 4 << 20,
    FILE_LIMIT = 64 << 10,
    PROCESSES_MAX = 32768 /* of a container that are looked at */
};

static int read_file(struct buffer *out, size_t limit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int read_file(struct buffer *out, size_t limit, const char *format, ...)
{
    char path[CONTROL_GROUP_PATH_SIZE + 64];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, sizeof(path), format, arguments);
    va_end(arguments);
    buffer_clear(out);
    if (length < 0 || (size_t)length >= sizeof(path))
        return -1;
    return file_read_at(AT_FDCWD, path, limit, out, NULL);
}

/* Copy the path, or "" if it does not fit. */
static void copy_path(char out[static CONTROL_GROUP_PATH_SIZE], struct text path)
{
    if (path.length >= CONTROL_GROUP_PATH_SIZE)
        path.length = 0;
    if (path.length)
        memcpy(out, path.data, path.length);
    out[path.length] = '\0';
}

static bool has_word(struct text list, const char *wanted)
{
    struct text word;
    while (list.length && text_next(&list, ',', &word))
        if (text_is(word, wanted))
            return true;
    return false;
}

/* ---- where the hierarchies are ---- */

static void take_mount(struct control_mount *mount, struct text root, struct text point)
{
    if (mount->point[0])
        return;
    copy_path(mount->point, point);
    copy_path(mount->root, root);
}

static void take_point(struct control_mounts *mounts, struct text point)
{
    if (mounts->point_count < CONTROL_HIERARCHIES && point.length < CONTROL_POINT_SIZE)
        text_copy(mounts->points[mounts->point_count++], CONTROL_POINT_SIZE, point);
}

/* "36 35 98:0 /root /point options optional... - type source super-options" */
static void take_line(struct control_mounts *mounts, struct text line)
{
    struct text word, root = {0}, point = {0}, type = {0}, options = {0};
    for (int i = 0; line.length && text_next(&line, ' ', &word) && !text_is(word, "-"); i++) {
        root = i == 3 ? word : root;
        point = i == 4 ? word : point;
    }
    if (!text_next(&line, ' ', &type) || !text_next(&line, ' ', &word))
        return;
    options = line;
    if (text_is(type, "cgroup") || text_is(type, "cgroup2"))
        take_point(mounts, point);
    if (text_is(type, "cgroup2"))
        take_mount(&mounts->unified, root, point);
    if (text_is(type, "cgroup") && has_word(options, "cpu"))
        take_mount(&mounts->cpu, root, point);
    if (text_is(type, "cgroup") && has_word(options, "cpuacct"))
        take_mount(&mounts->cpuacct, root, point);
    if (text_is(type, "cgroup") && has_word(options, "memory"))
        take_mount(&mounts->memory, root, point);
}

void control_group_mounts(const char *proc, struct control_mounts *mounts)
{
    struct buffer file = {0};
    struct text line;
    *mounts = (struct control_mounts){0};
    if (read_file(&file, MOUNTS_LIMIT, "%s/self/mountinfo", proc) == 0)
        for (struct text rest = buffer_text(&file); rest.length && text_next(&rest, '\n', &line);)
            take_line(mounts, line);
    buffer_free(&file);
}

/* ---- a container's group ---- */

/* The path up to the part that contains the id; the container may have groups of its own below it. */
static struct text path_of(struct text path, struct text id)
{
    const char *found = id.length ? memmem(path.data, path.length, id.data, id.length) : NULL;
    if (!found)
        return (struct text){NULL, 0};
    size_t end = (size_t)(found - path.data) + id.length;
    while (end < path.length && path.data[end] != '/')
        end++;
    return (struct text){path.data, end};
}

static void join_path(char out[static CONTROL_GROUP_PATH_SIZE], const struct control_mount *mount,
                      struct text path)
{
    size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    out[0] = '\0';
    if (!mount->point[0] || path.length < root || memcmp(path.data, mount->root, root) != 0)
        return;
    int length = snprintf(out, CONTROL_GROUP_PATH_SIZE, "%s%.*s", mount->point,
                          (int)(path.length - root), path.data + root);
    if (length < 0 || length >= CONTROL_GROUP_PATH_SIZE)
        out[0] = '\0';
}

/* "4:cpu,cpuacct:/path", and "0::/path" of version 2 */
static void take_group(const struct control_mounts *mounts, struct text line, struct text id,
                       struct control_group *group, struct text *unified)
{
    struct text number, controllers;
    if (!text_next(&line, ':', &number) || !text_next(&line, ':', &controllers))
        return;
    struct text path = path_of(line, id);
    if (!path.length)
        return;
    if (has_word(controllers, "cpu"))
        join_path(group->cpu, &mounts->cpu, path);
    if (has_word(controllers, "cpuacct"))
        join_path(group->cpuacct, &mounts->cpuacct, path);
    if (has_word(controllers, "memory"))
        join_path(group->memory, &mounts->memory, path);
    if (text_is(number, "0") && !controllers.length)
        *unified = path;
}

int control_group_find(const char *proc, const struct control_mounts *mounts, pid_t process,
                       struct text id, struct control_group *group)
{
    struct buffer file = {0};
    struct text line, unified = {NULL, 0};
    *group = (struct control_group){0};
    if (process > 0 && read_file(&file, FILE_LIMIT, "%s/%d/cgroup", proc, process) == 0) {
        for (struct text rest = buffer_text(&file); rest.length && text_next(&rest, '\n', &line);)
            take_group(mounts, line, id, group, &unified);
        group->cpu_unified = !group->cpu[0] && unified.length;
        group->cpuacct_unified = !group->cpuacct[0] && unified.length;
        group->memory_unified = !group->memory[0] && unified.length;
        if (group->cpu_unified)
            join_path(group->cpu, &mounts->unified, unified);
        if (group->cpuacct_unified)
            join_path(group->cpuacct, &mounts->unified, unified);
        if (group->memory_unified)
            join_path(group->memory, &mounts->unified, unified);
    }
    buffer_free(&file);
    return group->cpu[0] || group->cpuacct[0] ? 0 : -1;
}

static void append_path(char out[static CONTROL_GROUP_PATH_SIZE], const struct control_mount *mount,
                        const char *path)
{
    if (mount->point[0])
        snprintf(out, CONTROL_GROUP_PATH_SIZE, "%s%s", mount->point, path);
}

int control_group_at(const struct control_mounts *mounts, const char *path,
                     struct control_group *group)
{
    *group = (struct control_group){0};
    group->cpu_unified = !mounts->cpu.point[0];
    group->cpuacct_unified = !mounts->cpuacct.point[0];
    group->memory_unified = !mounts->memory.point[0];
    append_path(group->cpu, group->cpu_unified ? &mounts->unified : &mounts->cpu, path);
    append_path(group->cpuacct, group->cpuacct_unified ? &mounts->unified : &mounts->cpuacct, path);
    append_path(group->memory, group->memory_unified ? &mounts->unified : &mounts->memory, path);
    return group->cpuacct[0] && access(group->cpuacct, F_OK) == 0 ? 0 : -1;
}

void control_group_remove(const struct control_mounts *mounts, const char *path)
{
    char whole[CONTROL_GROUP_PATH_SIZE];
    for (size_t i = 0; i < mounts->point_count; i++) {
        snprintf(whole, sizeof(whole), "%s%s", mounts->points[i], path);
        rmdir(whole);
    }
}

/* ---- what its files say ---- */

/* The number at the beginning of the text, which is moved past it; -1: there is none. */
static int64_t take_number(struct text *text)
{
    int64_t number = 0;
    size_t digits = 0;
    for (; digits < text->length && text->data[digits] >= '0' && text->data[digits] <= '9';
         digits++)
        if (number < INT64_MAX / 10 - 9)
            number = number * 10 + (text->data[digits] - '0');
    *text = (struct text){text->data + digits, text->length - digits};
    return digits ? number : -1;
}

static int64_t read_number(const char *directory, const char *name)
{
    struct buffer file = {0};
    int64_t number = -1;
    if (read_file(&file, FILE_LIMIT, "%s/%s", directory, name) == 0) {
        struct text text = buffer_text(&file);
        number = text.length && text.data[0] == '-' ? 0 : take_number(&text); /* "-1": no limit */
    }
    buffer_free(&file);
    return number;
}

static int64_t limit_of(int64_t quota, int64_t period)
{
    if (quota < 0 || period <= 0)
        return -1;
    return quota > INT64_MAX / 1000 ? 0 : quota * 1000 / period;
}

/* "50000 100000", or "max 100000" */
static int64_t read_cpu_max(const struct control_group *group)
{
    struct buffer file = {0};
    int64_t limit = -1;
    if (read_file(&file, FILE_LIMIT, "%s/cpu.max", group->cpu) == 0) {
        struct text text = buffer_text(&file);
        bool none = text_starts(text, "max");
        int64_t quota = take_number(&text);
        text = text_trim(text);
        limit = none ? 0 : limit_of(quota, take_number(&text));
    }
    buffer_free(&file);
    return limit;
}

int64_t control_group_cpus(const struct control_group *group)
{
    if (!group->cpu[0])
        return -1;
    if (group->cpu_unified)
        return read_cpu_max(group);
    return limit_of(read_number(group->cpu, "cpu.cfs_quota_us"),
                    read_number(group->cpu, "cpu.cfs_period_us"));
}

static int64_t read_cpu_stat(const struct control_group *group)
{
    struct buffer file = {0};
    struct text line, name;
    int64_t used = -1;
    if (read_file(&file, FILE_LIMIT, "%s/cpu.stat", group->cpuacct) == 0)
        for (struct text rest = buffer_text(&file); rest.length && text_next(&rest, '\n', &line);)
            if (text_next(&line, ' ', &name) && text_is(name, "usage_usec"))
                used = take_number(&line);
    buffer_free(&file);
    return used < 0 ? -1 : used / 1000;
}

int64_t control_group_cpu_time(const struct control_group *group)
{
    enum { NANOSECONDS = 1000000 };
    if (!group->cpuacct[0])
        return -1;
    if (group->cpuacct_unified)
        return read_cpu_stat(group);
    int64_t used = read_number(group->cpuacct, "cpuacct.usage");
    return used < 0 ? -1 : used / NANOSECONDS;
}

int64_t control_group_memory_peak(const struct control_group *group)
{
    if (!group->memory[0])
        return -1;
    return read_number(group->memory,
                       group->memory_unified ? "memory.peak" : "memory.max_usage_in_bytes");
}

/* ---- signals ---- */

struct member {
    pid_t process, parent;
    bool catches;
    bool known, below; /* it is known whether a process above it catches the signal */
};

static int64_t status_field(struct text status, const char *name, int base)
{
    struct text line, key;
    while (status.length && text_next(&status, '\n', &line)) {
        if (!text_next(&line, ':', &key) || !text_is(key, name))
            continue;
        char digits[32];
        struct text value = text_trim(line);
        if (!value.length || value.length >= sizeof(digits))
            return -1;
        memcpy(digits, value.data, value.length);
        digits[value.length] = '\0';
        return (int64_t)strtoull(digits, NULL, base);
    }
    return -1;
}

static void look_at(const char *proc, struct member *member, int number)
{
    struct buffer status = {0};
    if (read_file(&status, FILE_LIMIT, "%s/%d/status", proc, member->process) == 0) {
        member->parent = (pid_t)status_field(buffer_text(&status), "PPid", 10);
        uint64_t caught = (uint64_t)status_field(buffer_text(&status), "SigCgt", 16);
        member->catches = caught != UINT64_MAX && (caught >> (number - 1) & 1);
    }
    buffer_free(&status);
}

static size_t list_members(const char *proc, struct text file, int number, struct member *members)
{
    size_t count = 0;
    struct text line;
    while (count < PROCESSES_MAX && file.length && text_next(&file, '\n', &line)) {
        int64_t process = take_number(&line);
        if (process <= 1 || process > INT32_MAX)
            continue; /* 0: a process that this process's pid namespace does not contain */
        members[count] = (struct member){.process = (pid_t)process};
        look_at(proc, &members[count++], number);
    }
    return count;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *first = a, *second = b;
    return (first->process > second->process) - (first->process < second->process);
}

static struct member *parent_of(struct member *members, size_t count, const struct member *member)
{
    const struct member wanted = {.process = member->parent};
    return count ? bsearch(&wanted, members, count, sizeof(*members), compare_members) : NULL;
}

/* Does a process above it catch the signal?  The answer is kept for all processes in between, so that a chain
 * of thousands of processes is walked once. */
static bool is_below_another(struct member *members, size_t count, struct member *member)
{
    struct member *above = member;
    bool below = false, known = false;
    for (size_t steps = 0; steps < count && !known && above; steps++) {
        known = above->known;
        below = above->below;
        above = known ? above : parent_of(members, count, above);
        if (!known && above && above->catches)
            known = below = true;
    }
    for (struct member *each = member; each && each != above && !each->known;) {
        each->known = true;
        each->below = below;
        each = parent_of(members, count, each);
    }
    return below;
}

/* Send the signal if the process is still the container's.  A pidfd is held meanwhile, so that the signal
 * never reaches a process that has got its number since.  Returns whether the process may be signalled. */
static bool send_signal(const char *proc, struct text id, pid_t process, int number)
{
    struct buffer file = {0};
    int held = (int)syscall(SYS_pidfd_open, process, 0);
    bool may = held >= 0 || errno == ESRCH;
    if (held >= 0 && read_file(&file, FILE_LIMIT, "%s/%d/cgroup", proc, process) == 0 &&
        text_contains(buffer_text(&file), id))
        may = syscall(SYS_pidfd_send_signal, held, number, NULL, 0) == 0 || errno == ESRCH;
    if (held >= 0)
        close(held);
    buffer_free(&file);
    return may;
}

int control_group_signal(const char *proc, const struct control_group *group, struct text id,
                         int number)
{
    struct buffer file = {0};
    const char *directory = group->cpu[0] ? group->cpu : group->cpuacct;
    int sent = -1;
    if (directory[0] && number > 0 && number < NSIG &&
        read_file(&file, MEMBERS_LIMIT, "%s/cgroup.procs", directory) == 0) {
        struct member *members = memory_allocate(PROCESSES_MAX * sizeof(*members));
        size_t count = list_members(proc, buffer_text(&file), number, members);
        qsort(members, count, sizeof(*members), compare_members);
        sent = count ? 0 : -1;
        for (size_t i = 0; i < count && sent >= 0; i++) {
            if (!members[i].catches ||
                (number != SIGINT && is_below_another(members, count, &members[i])))
                continue;
            sent = send_signal(proc, id, members[i].process, number) ? sent + 1 : -1;
        }
        free(members);
    }
    buffer_free(&file);
    return sent;
}
