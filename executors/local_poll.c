/* executors/local_poll.c - how jobs fare: one list of containers for all of them
 *
 *   a task runs                                    RUNNING
 *   none runs, and one failed                      FAILED, by the task that failed first
 *   a task failed, and others still run            FAILED as well: the track stage stops the rest
 *   none runs or failed, and one is missing or
 *   was never started                              VANISHED: handing the same submission in again
 *                                                  starts what never ran
 *   all ended with exit code 0                     SUCCEEDED
 *
 * A container counts as never started after the machine was restarted, too.  A job of which a
 * container is missing while others run is RUNNING.
 *
 * Ended tasks of jobs that are at their end are inspected, for exact times.
 */
#include "executors/local.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "base/system.h"
#include "executors/conmon_log.h"
#include "executors/kernel_log.h"
#include "executors/local_storage.h"

enum {
    EXIT_KILLED = 128 + 9,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    START_TIME = 5000,          /* milliseconds from the start of a container's time limit to its
                                   own start, at most */
    EXIT_LOST = 255             /* podman does not know the exit code */
};

/* A container and whose it is. */
struct entry {
    const char *job;
    int attempt;
    struct podman_container *container;
};

/* One job's part of the entries. */
struct group {
    const struct entry *entries;
    size_t count;
    size_t running, waiting, failed, wanted;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *first = a, *second = b;
    int order = strcmp(first->job, second->job);
    if (order == 0)
        order = (first->attempt > second->attempt) - (first->attempt < second->attempt);
    return order;
}

static struct entry *sort_containers(struct arena *arena, struct podman_container *containers,
                                     size_t *count)
{
    struct entry *entries = arena_allocate(arena, (*count + 1) * sizeof(*entries));
    size_t used = 0;
    for (size_t i = 0; i < *count; i++) {
        if (containers[i].infra)
            continue;
        entries[used++] = (struct entry){
            .job = local_label(&containers[i], "job"),
            .attempt = (int)local_label_number(&containers[i], "attempt"),
            .container = &containers[i],
        };
    }
    *count = used;
    qsort(entries, used, sizeof(*entries), compare_entries);
    return entries;
}

static struct group find_group(const struct entry *entries, size_t count,
                               const struct job_poll *poll)
{
    struct group group = {0};
    const struct entry wanted = {.job = poll->id, .attempt = poll->attempt};
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_entries(&entries[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    group.entries = entries + low;
    while (low < count && compare_entries(&entries[low], &wanted) == 0) {
        const struct podman_container *container = entries[low++].container;
        group.count++;
        group.running += container->state == PODMAN_STATE_RUNNING;
        group.waiting += container->state == PODMAN_STATE_CREATED ||
                         container->state == PODMAN_STATE_UNKNOWN;
        group.failed += container->state == PODMAN_STATE_ENDED && container->exit_code != 0;
        group.wanted = (size_t)local_label_number(container, "tasks");
    }
    return group;
}

static bool is_over(const struct group *group)
{
    return group->count && (group->failed || (!group->running && !group->waiting));
}

/* ---- exact times ---- */

static void inspect_ended(struct local *local, struct arena *arena, struct podman_container **ended,
                          size_t count)
{
    struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
    for (size_t i = 0; i < count; i++)
        podman_call_inspect(&calls[i], ended[i]->id.data);
    podman_run(local->podman, calls, count);
    for (size_t i = 0; i < count; i++) {
        struct podman_container exact;
        if (calls[i].outcome == PODMAN_DONE &&
            podman_read_inspection(&calls[i], arena, &exact, NULL) == 0 &&
            exact.state == PODMAN_STATE_ENDED) {
            exact.labels = ended[i]->labels;
            *ended[i] = exact;
        }
        podman_call_free(&calls[i]);
    }
}

static void inspect_groups(struct local *local, struct arena *arena, const struct group *groups,
                           size_t group_count, size_t container_count)
{
    struct podman_container **ended =
        arena_allocate(arena, (container_count + 1) * sizeof(struct podman_container *));
    size_t count = 0;
    for (size_t i = 0; i < group_count; i++)
        for (size_t j = 0; is_over(&groups[i]) && j < groups[i].count; j++)
            if (groups[i].entries[j].container->state == PODMAN_STATE_ENDED &&
                count < container_count)
                ended[count++] = groups[i].entries[j].container;
    inspect_ended(local, arena, ended, count);
}

/* ---- reasons ---- */

/* What is needed to tell why a task ended. */
struct inquest {
    struct local *local;
    struct buffer kills;        /* the kernel's records; read when first needed */
    bool kills_read;
};

/* catatonit's last words when it could not start the task's command, or false. */
static bool find_start_error(struct local *local, const struct podman_container *container,
                             struct error_quote_room *room)
{
    enum { HEAD = 4096 };
    const struct text mark = TEXT("failed to exec pid1: ");
    char job[LOCAL_NAME_SIZE], task[LOCAL_NAME_SIZE];
    local_job_name(job, local_label(container, "job"),
                   (int)local_label_number(container, "attempt"));
    snprintf(task, sizeof(task), "%s-%s", local_label(container, "role"),
             local_label(container, "index"));
    int logs = local_storage_logs(local->directory, job);
    int file = logs >= 0 ? sys.openat(logs, task, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0) : -1;
    char head[HEAD];
    ssize_t length = file >= 0 ? sys.pread(file, head, sizeof(head), 0) : 0;
    if (file >= 0)
        sys.close(file);
    if (logs >= 0)
        sys.close(logs);
    struct text rest = {head, length > 0 ? (size_t)length : 0};
    struct buffer printed = {0};
    while (conmon_log_next(&rest, &printed))
        continue;
    struct text text = buffer_text(&printed);
    bool found = text.length && text_starts(text, "ERROR (catatonit:") && text_contains(text, mark);
    if (found) {
        const char *words = (const char *)memmem(text.data, text.length, mark.data, mark.length) +
                            mark.length;
        size_t left = text.length - (size_t)(words - text.data);
        const char *end = memchr(words, '\n', left);
        error_quote(room, words, end ? (size_t)(end - words) : left);
    }
    buffer_free(&printed);
    return found;
}

/* How one ended task ended: the functions below try in turn to tell, and fill it in. */
struct finding {
    struct inquest *inquest;
    const struct podman_container *container;
    struct task_state *task;
    char detail[sizeof(((struct job_poll *)NULL)->detail)];
};

static void find(struct finding *finding, int exit_code, const char *reason, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* Note the reason and `task ROLE-INDEX` followed by the words. */
static void find(struct finding *finding, int exit_code, const char *reason, const char *format,
                 ...)
{
    char words[sizeof(finding->detail) - 128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    finding->task->exit_code = exit_code;
    snprintf(finding->task->reason, sizeof(finding->task->reason), "%s", reason);
    snprintf(finding->detail, sizeof(finding->detail), "task %s-%d %s", finding->task->role,
             finding->task->index, words);
}

static bool find_success(struct finding *finding)
{
    if (finding->container->exit_code != 0)
        return false;
    finding->task->exit_code = 0;
    return true;
}

/* podman does not tell its own killing from not knowing how a container ended: both are -1.  Its
 * clock runs from shortly before the start that it reports. */
static bool find_time_limit(struct finding *finding)
{
    const struct podman_container *container = finding->container;
    int64_t limit = local_label_number(container, "time_limit");
    int64_t early = limit / 2 < START_TIME ? limit / 2 : START_TIME;
    char written[CLOCK_TEXT_SIZE];
    if (container->exit_code >= 0 || limit == 0 || !container->started ||
        container->ended - container->started < limit - early)
        return false;
    find(finding, EXIT_KILLED, "TimeLimit",
         "was ended because it ran for longer than its time limit of %s",
         duration_format(limit, written));
    return true;
}

static bool find_memory(struct finding *finding)
{
    struct inquest *inquest = finding->inquest;
    const struct podman_container *container = finding->container;
    if (!inquest->kills_read)
        kernel_log_read_kills(&inquest->kills);
    inquest->kills_read = true;
    enum memory_kill kill = kernel_log_find_kill(buffer_text(&inquest->kills), container->id);
    if (kill == MEMORY_KILL_NONE && !container->out_of_memory)
        return false;
    char memory[QUANTITY_TEXT_SIZE];
    int exit_code = container->exit_code < 0 ? EXIT_KILLED : container->exit_code;
    quantity_format_bytes(local_label_number(container, "memory"), memory);
    if (kill == MEMORY_KILL_MACHINE)
        find(finding, exit_code, "OOMKilled", "lost a process because this machine had no memory "
             "left, although the task's limit is %s; it ended with exit code %d", memory,
             exit_code);
    else
        find(finding, exit_code, "OOMKilled", "needed more than its %s of memory, and a process of "
             "it was killed; it ended with exit code %d", memory, exit_code);
    return true;
}

static bool find_loss(struct finding *finding)
{
    if (finding->container->exit_code >= 0)
        return false;
    find(finding, EXIT_LOST, "NodeLost", "ended, and nobody knows how: its supervisor was killed, "
         "or this machine was restarted");
    return true;
}

static bool find_failed_start(struct finding *finding)
{
    struct error_quote_room room;
    if (finding->container->exit_code != 1 ||
        !find_start_error(finding->inquest->local, finding->container, &room))
        return false;
    bool missing = strcmp(room.text, "No such file or directory") == 0;
    find(finding, missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, "StartError",
         "could not start its command: %s", room.text);
    return true;
}

static bool find_signal(struct finding *finding)
{
    int number = finding->container->exit_code - 128;
    if (number <= 0 || number >= NSIG)
        return false;
    const char *name = sigabbrev_np(number);
    find(finding, finding->container->exit_code, "Exited", "was ended by signal %d%s%s%s", number,
         name ? " (SIG" : "", name ? name : "", name ? ")" : "");
    return true;
}

static bool find_exit(struct finding *finding)
{
    int exit_code = finding->container->exit_code;
    find(finding, exit_code, "Exited", "ended with exit code %d", exit_code);
    return true;
}

static void explain(struct finding *finding)
{
    static bool (*const causes[])(struct finding *finding) = {
        find_success,      find_time_limit, find_memory, find_loss,
        find_failed_start, find_signal,     find_exit,
    };
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i](finding))
            return;
}

/* ---- a job ---- */

static int compare_tasks(const void *a, const void *b)
{
    const struct task_state *first = a, *second = b;
    int order = strcmp(first->role, second->role);
    return order ? order : (first->index > second->index) - (first->index < second->index);
}

/* The tasks of the job; the failure of the one that ended first is the job's. */
static void take_tasks(struct inquest *inquest, struct arena *arena, const struct group *group,
                       struct job_poll *poll)
{
    int64_t first_failure = INT64_MAX;
    poll->tasks = arena_allocate(arena, (group->count + 1) * sizeof(*poll->tasks));
    poll->task_count = group->count;
    for (size_t i = 0; i < group->count; i++) {
        const struct podman_container *container = group->entries[i].container;
        struct task_state *task = &poll->tasks[i];
        snprintf(task->role, sizeof(task->role), "%s", local_label(container, "role"));
        task->index = (int)local_label_number(container, "index");
        task->ended = container->state == PODMAN_STATE_ENDED;
        if (container->started && (!poll->started || container->started < poll->started))
            poll->started = container->started;
        if (!task->ended)
            continue;
        if (container->ended > poll->ended)
            poll->ended = container->ended;
        struct finding finding = {.inquest = inquest, .container = container, .task = task};
        explain(&finding);
        if (task->exit_code == 0 || container->ended >= first_failure)
            continue;
        first_failure = container->ended;
        poll->exit_code = task->exit_code;
        memcpy(poll->reason, task->reason, sizeof(poll->reason));
        memcpy(poll->detail, finding.detail, sizeof(poll->detail));
    }
    qsort(poll->tasks, poll->task_count, sizeof(*poll->tasks), compare_tasks);
}

static void take_phase(const struct group *group, struct job_poll *poll)
{
    if (group->count == 0) {
        poll->phase = PHASE_VANISHED;
        snprintf(poll->detail, sizeof(poll->detail), "podman has no container of this job");
    } else if (group->failed) {
        poll->phase = PHASE_FAILED;
    } else if (group->running) {
        poll->phase = PHASE_RUNNING;
    } else if (group->waiting || group->count < group->wanted) {
        poll->phase = PHASE_VANISHED;
        snprintf(poll->detail, sizeof(poll->detail),
                 "of %zu containers of this job, %zu %s gone and %zu never started", group->wanted,
                 group->wanted - group->count, group->wanted - group->count == 1 ? "is" : "are",
                 group->waiting);
    } else {
        poll->phase = PHASE_SUCCEEDED;
    }
    if (poll->phase == PHASE_RUNNING || poll->phase == PHASE_VANISHED)
        poll->ended = 0;
    if (poll->ended && poll->ended < poll->started)
        poll->ended = poll->started;
}

static void clear_poll(struct job_poll *poll)
{
    *poll = (struct job_poll){.id = poll->id, .attempt = poll->attempt};
}

int local_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
               size_t count, struct error *error)
{
    struct inquest inquest = {.local = (struct local *)(void *)executor};
    for (size_t i = 0; i < count; i++)
        clear_poll(jobs[i]);
    struct arena *scratch = arena_new();
    struct podman_container *containers;
    size_t container_count;
    if (local_ensure(inquest.local, error) ||
        local_list(inquest.local, scratch, false, &containers, &container_count, error)) {
        arena_free(scratch);
        return -1;
    }
    struct entry *entries = sort_containers(scratch, containers, &container_count);
    struct group *groups = arena_allocate(scratch, (count + 1) * sizeof(*groups));
    for (size_t i = 0; i < count; i++)
        groups[i] = find_group(entries, container_count, jobs[i]);
    inspect_groups(inquest.local, scratch, groups, count, container_count);
    for (size_t i = 0; i < count; i++) {
        take_tasks(&inquest, arena, &groups[i], jobs[i]);
        take_phase(&groups[i], jobs[i]);
    }
    buffer_free(&inquest.kills);
    arena_free(scratch);
    return 0;
}
