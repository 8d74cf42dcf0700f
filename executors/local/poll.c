/* executors/local/poll.c - the state of jobs, from one list of containers for all of them
 *
 *   a task runs                                    RUNNING
 *   none runs, and one failed                      FAILED, by the task that failed first
 *   a task failed, and others still run            FAILED as well: the track stage stops the rest
 *   none runs or failed, and one is missing or
 *   was never started                              VANISHED: handing the same submission in again
 *                                                  starts what never ran
 *   all ended with exit code 0                     SUCCEEDED
 *
 * A job with a rule of completion (completion.h) has failed or succeeded when the rule says so,
 * while tasks may still run.
 *
 * Where tasks take turns (turns.h), those that wait are started here as others end, unless the
 * job is at its end or is to end; a job is RUNNING as long as some wait.
 *
 * Lost tasks of a job that goes on without them are started again here, where its rule says so (again.h).
 *
 * After a restart of the machine, a container counts as never started, too.  A job is RUNNING when one of
 * its containers is missing while others run.
 *
 * Containers with labels in a form that dlspool does not write are ignored, whatever job they name.
 *
 * Ended tasks of jobs that have ended are inspected, for exact times.
 */
#include "executors/local/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/completion.h"
#include "executors/local/again.h"
#include "executors/local/exit_reason.h"
#include "executors/local/process.h"
#include "executors/local/turns.h"

enum { EXIT_KILLED = 128 + 15 }; /* of a task that was killed before it began */

/* A container, and the job that it belongs to. */
struct entry {
    const char *job;
    int attempt;
    struct podman_container *container;
};

/* The entries of one job. */
struct group {
    const struct entry *entries;
    size_t count;
    size_t running, waiting, failed, wanted;
    int64_t parallelism; /* its tasks take turns; 0: they do not */
    bool decided;        /* the job's own rule has decided: */
    enum completion_state state;
    const struct completion_rule *rule;     /* its own; NULL: none */
    const struct podman_container *decider; /* ... by this one; NULL: by the first that failed */
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
        if (!local_is_task(&containers[i]))
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
    while (low + group.count < count && compare_entries(&group.entries[group.count], &wanted) == 0)
        group.count++;
    if (group.count) {
        group.wanted = (size_t)local_label_number(group.entries[0].container, "tasks");
        group.parallelism = local_label_number(group.entries[0].container, "parallelism");
    }
    return group;
}

static void count_states(struct group *group)
{
    group->running = group->waiting = group->failed = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct podman_container *container = group->entries[i].container;
        group->running += container->state == PODMAN_STATE_RUNNING;
        group->waiting +=
            container->state == PODMAN_STATE_CREATED || container->state == PODMAN_STATE_UNKNOWN;
        group->failed += container->state == PODMAN_STATE_ENDED && container->exit_code != 0;
    }
}

/* Let the job's rule of completion, if it has one, decide: then failed tasks count only if the rule says so. */
static void judge_completion(struct arena *arena, struct group *group, const struct job_poll *poll)
{
    struct error error;
    const char *written = group->count ? local_label(group->entries[0].container, "complete") : "";
    if (!*written)
        return;
    const struct completion_rule *rule = completion_read(arena, text_of(written), &error);
    group->rule = rule;
    struct task_state *tasks = arena_allocate(arena, group->count * sizeof(*tasks));
    for (size_t i = 0; i < group->count; i++) {
        const struct podman_container *container = group->entries[i].container;
        snprintf(tasks[i].role, sizeof(tasks[i].role), "%s", local_label(container, "role"));
        tasks[i].index = (int)local_label_number(container, "index");
        tasks[i].ended = container->state == PODMAN_STATE_ENDED;
        tasks[i].exit_code = container->exit_code;
        tasks[i].killed = executor_task_is_killed(poll, tasks[i].index);
    }
    struct completion_outcome outcome = completion_judge(rule, tasks, group->count, group->wanted);
    if (outcome.each)
        group->decider = group->entries[outcome.decider - tasks].container;
    group->state = outcome.state;
    group->decided = group->state != COMPLETION_RUNNING;
    if (group->state != COMPLETION_FAILED)
        group->failed = 0;
    else if (!group->failed)
        group->failed = 1; /* killed tasks may have exit code 0 */
}

static bool is_over(const struct group *group)
{
    return group->count &&
           (group->failed || group->decided || (!group->running && !group->waiting));
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
            exact.image = ended[i]->image;
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

/* The time of a start that podman's list tells in whole seconds, if `better` may be it. */
static int64_t within_second(int64_t listed, int64_t better)
{
    enum { SECOND = 1000 };
    return better > listed && better < listed + SECOND ? better : listed;
}

/* When the container started, in milliseconds since the epoch; 0: not yet.  podman lists containers in
 * whole seconds, which may lie before the submission; the start of their process gives the rest.  Once that has
 * gone it was not before the container was made, and how it ended will tell exactly. */
static int64_t started_at(const struct podman_container *container)
{
    enum { SECOND = 1000 };
    struct timespec since_boot;
    if (container->started % SECOND)
        return container->started;
    int64_t earliest = within_second(container->started, container->created);
    if (container->state != PODMAN_STATE_RUNNING || container->process <= 0 ||
        clock_gettime(CLOCK_BOOTTIME, &since_boot))
        return earliest;
    int64_t boot = clock_now() - (int64_t)since_boot.tv_sec * SECOND - since_boot.tv_nsec / 1000000;
    int64_t start =
        boot + (int64_t)process_start_time(container->process) * SECOND / sysconf(_SC_CLK_TCK);
    int64_t better = within_second(container->started, start);
    return better > earliest ? better : earliest;
}

/* ---- a job ---- */

static int compare_tasks(const void *a, const void *b)
{
    const struct task_state *first = a, *second = b;
    int order = strcmp(first->role, second->role);
    return order ? order : (first->index > second->index) - (first->index < second->index);
}

/* All tasks run on this machine. */
static void name_node(struct job_poll *poll)
{
    if (!poll->node[0] && gethostname(poll->node, sizeof(poll->node) - 1))
        poll->node[0] = '\0';
}

/* What a task has used, and for how long it has run. */
static void add_used(struct local *local, const struct podman_container *container, int64_t started,
                     struct job_poll *poll)
{
    struct local_used used = local_used_by(local, container);
    int64_t end = container->state == PODMAN_STATE_ENDED ? container->ended : clock_now();
    poll->cpu_time += used.cpu_time > 0 ? used.cpu_time : 0;
    if (used.memory_peak > poll->memory_peak)
        poll->memory_peak = used.memory_peak;
    if (started && end > started)
        poll->task_time += end - started;
    if (started)
        poll->nodes = 1;
}

/* Fill in the tasks of the job; the failure of the task that ended first is the job's. */
static void take_tasks(struct exit_reason *exit_reason, struct arena *arena,
                       const struct group *group, struct job_poll *poll)
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
        task->waits = container->state == PODMAN_STATE_CREATED;
        task->killed = executor_task_is_killed(poll, task->index);
        int64_t started = started_at(container);
        task->started = started;
        poll->untimed = poll->untimed || local_label_number(container, "untimed");
        poll->stands = poll->stands || container->paused;
        add_used(exit_reason->local, container, started, poll);
        if (started && (!poll->started || started < poll->started))
            poll->started = started;
        if (container->started) {
            name_node(poll);
            local_image_ran(exit_reason->local, container, task->image);
        }
        if (!task->ended)
            continue;
        if (container->ended > poll->ended)
            poll->ended = container->ended;
        char detail[sizeof(poll->detail)];
        if (task->killed && !container->started) {
            task->exit_code = EXIT_KILLED;
            snprintf(task->reason, sizeof(task->reason), "Killed");
            continue;
        }
        exit_reason_explain(exit_reason, container, task, detail, sizeof(detail));
        if (task->exit_code == 0 || container->ended >= first_failure ||
            (group->decider && group->decider != container))
            continue;
        first_failure = container->ended;
        poll->exit_code = task->exit_code;
        memcpy(poll->reason, task->reason, sizeof(poll->reason));
        memcpy(poll->detail, detail, sizeof(poll->detail));
    }
    qsort(poll->tasks, poll->task_count, sizeof(*poll->tasks), compare_tasks);
}

/* Decide the phase of a job by its containers: a failure or the rule of completion decides
 * first; what is missing or never started without waiting for its turn has vanished. */
static void take_phase(const struct group *group, struct job_poll *poll)
{
    if (group->count == 0) {
        poll->phase = PHASE_VANISHED;
        snprintf(poll->detail, sizeof(poll->detail), "podman has no container of this job");
    } else if (group->failed) {
        poll->phase = PHASE_FAILED;
    } else if (group->decided) {
        poll->phase = PHASE_SUCCEEDED;
    } else if (group->running || (group->parallelism && group->waiting)) {
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
    if (poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_RUNNING) {
        /* Failures that the rule allows. */
        poll->exit_code = 0;
        poll->reason[0] = poll->detail[0] = '\0';
    }
    if (poll->ended && poll->ended < poll->started)
        poll->ended = poll->started;
}

static void assess_group(struct arena *arena, struct group *group, const struct job_poll *poll)
{
    count_states(group);
    judge_completion(arena, group, poll);
}

/* Count tasks as ended that wait for their turn and have been killed: they are not started. */
static void settle_waiting(const struct local *local, const struct group *group,
                           const struct job_poll *poll)
{
    for (size_t i = 0; group->parallelism && i < group->count; i++) {
        struct podman_container *container = group->entries[i].container;
        local_turns_settle(local, container);
        if (container->state != PODMAN_STATE_CREATED || container->started ||
            !executor_task_is_killed(poll, (int)local_label_number(container, "index")))
            continue;
        container->state = PODMAN_STATE_ENDED;
        container->exit_code = EXIT_KILLED;
    }
}

static struct podman_container **containers_of(struct arena *arena, const struct group *group)
{
    struct podman_container **containers =
        arena_allocate(arena, group->count * sizeof(struct podman_container *));
    for (size_t i = 0; i < group->count; i++)
        containers[i] = group->entries[i].container;
    return containers;
}

/* Start the next tasks of jobs whose tasks take turns, and assess these jobs again. */
static void take_turns(struct local *local, struct arena *arena, struct group *groups,
                       struct job_poll **jobs, size_t count)
{
    struct local_turns *turns = arena_allocate(arena, (count + 1) * sizeof(*turns));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        struct group *group = &groups[i];
        if (!group->parallelism || !group->waiting || is_over(group) || jobs[i]->ending)
            continue;
        struct local_turns *job = &turns[used++];
        job->parallelism = group->parallelism;
        job->count = group->count;
        job->tasks = containers_of(arena, group);
    }
    local_turns_start(local, arena, turns, used);
    for (size_t i = 0; used && i < count; i++)
        if (groups[i].parallelism)
            assess_group(arena, &groups[i], jobs[i]);
}

/* Start again the lost tasks of jobs that go on without them, and assess these jobs again. */
static void start_lost(struct local *local, struct arena *arena, struct group *groups,
                       struct job_poll **jobs, size_t count)
{
    struct local_again *again = arena_allocate(arena, (count + 1) * sizeof(*again));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        struct group *group = &groups[i];
        if (!completion_has_again(group->rule) || group->parallelism || !group->running ||
            is_over(group) || jobs[i]->ending)
            continue;
        struct local_again *job = &again[used++];
        *job = (struct local_again){
            .rule = group->rule, .count = group->count, .tasks = containers_of(arena, group)};
    }
    if (!local_again_start(local, arena, again, used))
        return;
    for (size_t i = 0; i < count; i++)
        if (completion_has_again(groups[i].rule))
            assess_group(arena, &groups[i], jobs[i]);
}

int local_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs, size_t count,
               struct error *error)
{
    struct exit_reason exit_reason = {.local = (struct local *)(void *)executor};
    for (size_t i = 0; i < count; i++)
        executor_clear_poll(jobs[i]);
    struct arena *scratch = arena_new();
    struct podman_container *containers;
    size_t container_count;
    if (local_ensure(exit_reason.local, error) ||
        local_list(exit_reason.local, scratch, false, &containers, &container_count, error)) {
        arena_free(scratch);
        return -1;
    }
    struct entry *entries = sort_containers(scratch, containers, &container_count);
    struct group *groups = arena_allocate(scratch, (count + 1) * sizeof(*groups));
    for (size_t i = 0; i < count; i++) {
        groups[i] = find_group(entries, container_count, jobs[i]);
        settle_waiting(exit_reason.local, &groups[i], jobs[i]);
        assess_group(scratch, &groups[i], jobs[i]);
    }
    take_turns(exit_reason.local, scratch, groups, jobs, count);
    start_lost(exit_reason.local, scratch, groups, jobs, count);
    inspect_groups(exit_reason.local, scratch, groups, count, container_count);
    for (size_t i = 0; i < count; i++) {
        take_tasks(&exit_reason, arena, &groups[i], jobs[i]);
        take_phase(&groups[i], jobs[i]);
    }
    exit_reason_clear(&exit_reason);
    arena_free(scratch);
    return 0;
}
