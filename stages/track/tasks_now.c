/* stages/track/tasks_now.c - writes down what the executor says of a job's tasks, as it changes */
#include "stages/track/tasks_now.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ranges.h"
#include "spool/eventlog.h"
#include "spool/tasks_file.h"

static const int64_t between_numbers = 1000; /* milliseconds */

struct lost_task {
    char name[80]; /* <role>-<index> */
};

struct tasks_now {
    struct tasks_file written;
    struct arena *arena; /* of its texts */
    int64_t next;        /* of clock_elapsed(): when tasks are counted again */
    struct lost_task *lost;
    size_t lost_count, lost_capacity;
};

static struct tasks_now *tasks_now_new(void)
{
    struct tasks_now *now = memory_allocate(sizeof(*now));
    *now = (struct tasks_now){.lost = NULL};
    return now;
}

void tasks_now_free(struct tasks_now *now)
{
    if (now) {
        free(now->lost);
        arena_free(now->arena);
    }
    free(now);
}

/* ---- lost tasks ---- */

static size_t find_lost(const struct tasks_now *now, const char *name)
{
    size_t i = 0;
    while (i < now->lost_count && strcmp(now->lost[i].name, name) != 0)
        i++;
    return i;
}

static void set_lost(struct tasks_now *now, const char *name, bool lost)
{
    size_t at = find_lost(now, name);
    if (lost && at == now->lost_count) {
        now->lost =
            memory_grow(now->lost, now->lost_count, &now->lost_capacity, sizeof(*now->lost));
        snprintf(now->lost[now->lost_count++].name, sizeof(now->lost[0].name), "%s", name);
    } else if (!lost && at < now->lost_count) {
        now->lost[at] = now->lost[--now->lost_count];
    }
}

static bool has_failed(const struct task_state *task)
{
    return task->ended && (task->exit_code != 0 || task->killed);
}

/* Does the job go on without those of its tasks that have ended? */
static bool goes_on(const struct job_poll *poll)
{
    bool some_run = false;
    for (size_t i = 0; i < poll->task_count; i++)
        some_run = some_run || !poll->tasks[i].ended;
    return poll->phase == PHASE_RUNNING && some_run && !poll->ending;
}

/* Append an event for each task that has been lost, or has returned, since the last poll. */
static void note_lost(struct tasks_now *now, int job, const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        struct buffer line = {0};
        char name[sizeof(now->lost[0].name)];
        bool lost = has_failed(task);
        if (!lost && !now->lost_count)
            continue;
        snprintf(name, sizeof(name), "%s-%d", task->role, task->index);
        if (lost == (find_lost(now, name) < now->lost_count) || (!lost && task->ended))
            continue;
        if (lost)
            eventlog_start(&line, clock_now(), "lost");
        else
            eventlog_start(&line, clock_now(), "returned");
        eventlog_add_number(&line, "attempt", poll->attempt);
        eventlog_add_string(&line, "task", name);
        if (lost) {
            eventlog_add_number(&line, "exit_code", task->exit_code);
            eventlog_add_string(&line, "reason", task->reason);
        }
        eventlog_end(&line);
        if (eventlog_append(job, buffer_text(&line), NULL) == 0)
            set_lost(now, name, lost);
        buffer_free(&line);
    }
}

struct tasks_now *tasks_now_recall(struct text log, int attempt)
{
    struct tasks_now *now = NULL;
    struct arena *arena = arena_new();
    struct event event;
    while (eventlog_next(&log, &event)) {
        bool lost = text_is(event.name, "lost");
        if ((!lost && !text_is(event.name, "returned")) ||
            eventlog_get_number(&event, "attempt", 0) != attempt)
            continue;
        struct text name = eventlog_get(arena, &event, "task");
        if (!now)
            now = tasks_now_new();
        if (name.length && name.length < sizeof(now->lost[0].name))
            set_lost(now, arena_text(arena, name.data, name.length).data, lost);
    }
    arena_free(arena);
    return now;
}

/* ---- numbers ---- */

enum task_phase { TASK_WAITING, TASK_RUNNING, TASK_SUCCEEDED, TASK_FAILED };

static enum task_phase phase_of(const struct job_poll *poll, const struct task_state *task)
{
    return has_failed(task)                              ? TASK_FAILED
           : task->ended                                 ? TASK_SUCCEEDED
           : task->waits || poll->phase == PHASE_WAITING ? TASK_WAITING
                                                         : TASK_RUNNING;
}

static struct tasks_file count_tasks(const struct job_poll *poll)
{
    struct tasks_file tasks = {.time = clock_now(), .attempt = poll->attempt};
    int *const numbers[] = {&tasks.waiting, &tasks.running, &tasks.succeeded, &tasks.failed};
    for (size_t i = 0; i < poll->task_count; i++)
        (*numbers[phase_of(poll, &poll->tasks[i])])++;
    snprintf(tasks.scheduler_id, sizeof(tasks.scheduler_id), "%s", poll->scheduler_id);
    snprintf(tasks.scheduler_state, sizeof(tasks.scheduler_state), "%s", poll->scheduler_state);
    return tasks;
}

static int compare_numbers(const void *a, const void *b)
{
    const int *first = a, *second = b;
    return *first < *second ? -1 : *first > *second;
}

/* Which tasks of an array these are. */
static void list_tasks(struct arena *arena, const struct job_poll *poll, struct tasks_file *tasks)
{
    struct text *const lists[] = {&tasks->which_waiting, &tasks->which_running,
                                  &tasks->which_succeeded, &tasks->which_failed};
    int *numbers = arena_allocate(arena, (poll->task_count + 1) * sizeof(*numbers));
    for (size_t phase = 0; phase < ARRAY_COUNT(lists); phase++) {
        struct buffer list = {0};
        size_t count = 0;
        for (size_t i = 0; i < poll->task_count; i++)
            if (phase_of(poll, &poll->tasks[i]) == phase)
                numbers[count++] = poll->tasks[i].index;
        if (count)
            qsort(numbers, count, sizeof(*numbers), compare_numbers);
        ranges_format(&list, numbers, count);
        *lists[phase] = arena_take(arena, &list);
    }
}

/* Write the numbers unless they are what was written. */
static void note_numbers(struct tasks_now *now, int job, const struct job_poll *poll, bool array)
{
    struct arena *arena = arena_new();
    struct tasks_file tasks = count_tasks(poll);
    if (array)
        list_tasks(arena, poll, &tasks);
    if (!tasks_file_same(&tasks, &now->written) && tasks_file_write(job, &tasks, NULL) == 0) {
        arena_free(now->arena);
        now->written = tasks;
        now->arena = arena;
        arena = NULL;
    }
    now->next = clock_elapsed() + between_numbers;
    arena_free(arena);
}

void tasks_now_note(struct tasks_now **now, int job, const struct job_poll *poll, bool array)
{
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
    if ((!ended && poll->phase != PHASE_WAITING && poll->phase != PHASE_RUNNING) ||
        (poll->task_count < 2 && !poll->scheduler_id[0]))
        return;
    if (!*now)
        *now = tasks_now_new();
    if (!array && goes_on(poll))
        note_lost(*now, job, poll);
    if (ended || clock_elapsed() >= (*now)->next)
        note_numbers(*now, job, poll, array);
}
