/* stages/track/warn.c - jobs whose time is nearly over are told so by a signal, before the limit ends them
 *
 * Only where the executor does not do that by itself.  The time of a job counts from the start of its
 * first task, and in an array for each task from its own.  That it was sent is noted in the log
 * afterwards: after a crash between the two it is sent again, to programs that catch it and know it.
 */
#include "stages/track/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/ranges.h"
#include "spool/eventlog.h"

enum { MOST_TASKS = 1 << 20 }; /* of an array, as its log may name */

struct warning {
    char name[16]; /* of the signal */
    int64_t at;    /* milliseconds of running */
    bool *
        told; /* tasks of an array, by their numbers in this attempt; of another job the first is for all */
    size_t count;
};

void warn_free(struct tracked *tracked)
{
    if (tracked->warning)
        free(tracked->warning->told);
    free(tracked->warning);
    tracked->warning = NULL;
}

static void set_told(struct warning *warning, int task)
{
    size_t count = (size_t)task + 1;
    if (count > warning->count) {
        bool *told = memory_allocate(count);
        if (warning->count)
            memcpy(told, warning->told, warning->count);
        free(warning->told);
        warning->told = told;
        warning->count = count;
    }
    warning->told[task] = true;
}

static bool is_told(const struct warning *warning, int task)
{
    return task >= 0 && (size_t)task < warning->count && warning->told[task];
}

void warn_learn(const struct tracker *tracker, struct tracked *tracked,
                const struct job_record *record, struct text log)
{
    const struct executor_operations *operations = tracker->executor->operations;
    struct event event;
    if (!record->signal_name.length || !record->time_limit || operations->warns ||
        !operations->signal)
        return;
    struct warning *warning = memory_allocate(sizeof(*warning));
    *warning = (struct warning){.at = record->time_limit - record->signal_before};
    snprintf(warning->name, sizeof(warning->name), "%.*s", (int)record->signal_name.length,
             record->signal_name.data);
    tracked->warning = warning;
    struct arena *arena = arena_new();
    while (eventlog_next(&log, &event)) {
        int *tasks;
        size_t count = 0;
        if (!text_is(event.name, "signalled") ||
            eventlog_get_number(&event, "attempt", 0) != record->attempt)
            continue;
        struct text list = eventlog_get(arena, &event, "tasks");
        if (!list.length)
            set_told(warning, 0);
        else if (!ranges_parse(arena, list, MOST_TASKS, &tasks, &count, NULL))
            for (size_t i = 0; i < count; i++)
                if (tasks[i] >= 0 && tasks[i] < MOST_TASKS)
                    set_told(warning, tasks[i]);
    }
    arena_free(arena);
}

/* Which tasks of the job are to be told now, in the arena; 0 when none is, or, of what is no array, 1 when
 * all are. */
static size_t choose_tasks(const struct followed *followed, int64_t now, int *tasks)
{
    const struct warning *warning = followed->tracked->warning;
    const struct job_poll *poll = &followed->poll;
    size_t count = 0;
    if (!followed->tracked->array) {
        tasks[0] = 0;
        return !is_told(warning, 0) && poll->started && now >= poll->started + warning->at;
    }
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        if (!task->ended && !task->waits && task->started && task->index >= 0 &&
            task->index < MOST_TASKS && now >= task->started + warning->at &&
            !is_told(warning, task->index))
            tasks[count++] = task->index;
    }
    return count;
}

static void note_told(struct followed *followed, const int *tasks, size_t count)
{
    const struct warning *warning = followed->tracked->warning;
    struct buffer line = {0}, list = {0};
    eventlog_start(&line, clock_now(), "signalled");
    eventlog_add_number(&line, "attempt", followed->poll.attempt);
    eventlog_add_string(&line, "signal", warning->name);
    if (followed->tracked->array) {
        ranges_format(&list, tasks, count);
        eventlog_add(&line, "tasks", buffer_text(&list));
    }
    eventlog_end(&line);
    eventlog_append(followed->job, buffer_text(&line), NULL);
    buffer_free(&list);
    buffer_free(&line);
}

/* Tell a job, and see to it that it is told once. */
static void warn_job(struct tracker *tracker, struct followed *followed)
{
    struct warning *warning = followed->tracked->warning;
    int64_t now = clock_now();
    int *tasks = arena_allocate(tracker->arena, (followed->poll.task_count + 1) * sizeof(*tasks));
    size_t count = choose_tasks(followed, now - suspend_time(followed->tracked, now), tasks);
    struct job_call call = {.id = followed->place.id,
                            .attempt = followed->poll.attempt,
                            .signal = track_signal_number(text_of(warning->name)),
                            .tasks = followed->tracked->array ? tasks : NULL,
                            .task_count = followed->tracked->array ? count : 0};
    struct job_call *batch = &call;
    if (!count)
        return;
    tracker->executor->operations->signal(tracker->executor, &batch, 1);
    if (call.result) {
        log_warn("%s: could not be signalled before its time limit, and is retried: %s",
                 followed->place.id, call.error.text);
        return;
    }
    for (size_t i = 0; i < count; i++)
        set_told(warning, tasks[i]);
    note_told(followed, tasks, count);
}

void warn_jobs(struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        struct tracked *tracked = followed->tracked;
        if (tracked->warning && followed->fate == FATE_NONE && !followed->stop && !followed->end &&
            !tracked->stopping && !tracked->preemption && followed->poll.phase == PHASE_RUNNING)
            warn_job(round->tracker, followed);
    }
}
