/* stages/track/unreachable.c - since when tasks of a job cannot be reached, kept in its log */
#include "stages/track/unreachable.h"

#include <stdio.h>

#include "base/clock.h"
#include "spool/eventlog.h"

static const char event_name[] = "unreachable";

/* Keep since when the piece of that name cannot be reached. */
static void keep_time(struct names **since, struct text name, int64_t time)
{
    if (!*since)
        *since = names_new(UNREACHABLE_MOST, sizeof(int64_t));
    int64_t *kept = names_find(*since, name);
    if (!kept && !names_full(*since)) {
        kept = names_add(*since, name);
        *kept = time;
    }
}

void unreachable_note(struct names **since, int job, const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        struct text name = text_of(task->unreachable ? task->unreachable : "");
        if (!name.length || (*since && (names_find(*since, name) || names_full(*since))))
            continue;
        struct buffer line = {0};
        char words[sizeof(task->role) + 16];
        int64_t now = clock_now();
        snprintf(words, sizeof(words), "%s-%d", task->role, task->index);
        eventlog_start(&line, now, "unreachable");
        eventlog_add_number(&line, "attempt", poll->attempt);
        eventlog_add_string(&line, "task", words);
        eventlog_add(&line, "name", name);
        eventlog_end(&line);
        if (eventlog_append(job, buffer_text(&line), NULL) == 0)
            keep_time(since, name, now);
        buffer_free(&line);
    }
}

struct names *unreachable_recall(struct text log, int attempt)
{
    struct names *since = NULL;
    struct event event;
    if (!text_contains(log, text_of(event_name)))
        return NULL;
    struct arena *arena = arena_new();
    while (eventlog_next(&log, &event)) {
        if (!text_is(event.name, event_name) ||
            eventlog_get_number(&event, "attempt", 0) != attempt)
            continue;
        struct text name = eventlog_get(arena, &event, "name");
        if (name.length)
            keep_time(&since, name, event.time);
    }
    arena_free(arena);
    return since;
}
