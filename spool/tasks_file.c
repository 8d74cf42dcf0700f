/* spool/tasks_file.c - <id>/tasks: what the executor says of a submitted job and its tasks */
#include "spool/tasks_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "spool/file.h"
#include "spool/pairs.h"

enum { FILE_LIMIT = 1 << 18, FILE_MODE = 0644 };

/* As the line has it. */
struct written {
    struct text id, state, which_waiting, which_running, which_succeeded, which_failed;
    int attempt, waiting, running, succeeded, failed;
};

#define FIELD(name, kind, member) PAIR(struct written, name, kind, member)
static const struct pair_field fields[] = {
    FIELD("attempt", PAIR_INT, attempt),
    FIELD("id", PAIR_TEXT, id),
    FIELD("state", PAIR_TEXT, state),
    FIELD("waiting", PAIR_INT, waiting),
    FIELD("running", PAIR_INT, running),
    FIELD("succeeded", PAIR_INT, succeeded),
    FIELD("failed", PAIR_INT, failed),
    FIELD("which_waiting", PAIR_TEXT, which_waiting),
    FIELD("which_running", PAIR_TEXT, which_running),
    FIELD("which_succeeded", PAIR_TEXT, which_succeeded),
    FIELD("which_failed", PAIR_TEXT, which_failed),
};
#undef FIELD

bool tasks_file_same(const struct tasks_file *first, const struct tasks_file *second)
{
    return first->attempt == second->attempt && first->waiting == second->waiting &&
           first->running == second->running && first->succeeded == second->succeeded &&
           first->failed == second->failed &&
           text_equal(first->which_waiting, second->which_waiting) &&
           text_equal(first->which_running, second->which_running) &&
           text_equal(first->which_succeeded, second->which_succeeded) &&
           strcmp(first->scheduler_id, second->scheduler_id) == 0 &&
           strcmp(first->scheduler_state, second->scheduler_state) == 0;
}

int tasks_file_total(const struct tasks_file *tasks)
{
    return tasks->waiting + tasks->running + tasks->succeeded + tasks->failed;
}

static bool is_count(int number)
{
    return number >= 0 && number < 1 << 24;
}

/* Read the file's one line; -1 when it is none, or has what cannot be. */
static int parse_line(struct text source, struct arena *arena, struct tasks_file *tasks)
{
    struct written written = {.attempt = 0};
    struct event event;
    int result = -1;
    if (eventlog_next(&source, &event) && text_is(event.name, "tasks"))
        result = pairs_read(arena, &event, fields, ARRAY_COUNT(fields), &written);
    if (!result && written.attempt > 0 && is_count(written.waiting) && is_count(written.running) &&
        is_count(written.succeeded) && is_count(written.failed) &&
        written.id.length < sizeof(tasks->scheduler_id) &&
        written.state.length < sizeof(tasks->scheduler_state)) {
        *tasks = (struct tasks_file){.time = event.time,
                                     .attempt = written.attempt,
                                     .waiting = written.waiting,
                                     .running = written.running,
                                     .succeeded = written.succeeded,
                                     .failed = written.failed,
                                     .which_waiting = written.which_waiting,
                                     .which_running = written.which_running,
                                     .which_succeeded = written.which_succeeded,
                                     .which_failed = written.which_failed};
        snprintf(tasks->scheduler_id, sizeof(tasks->scheduler_id), "%.*s", (int)written.id.length,
                 written.id.length ? written.id.data : "");
        snprintf(tasks->scheduler_state, sizeof(tasks->scheduler_state), "%.*s",
                 (int)written.state.length, written.state.length ? written.state.data : "");
    } else {
        result = -1;
    }
    return result;
}

int tasks_file_read(int job, struct arena *arena, struct tasks_file *tasks, struct error *error)
{
    struct buffer bytes = {0};
    *tasks = (struct tasks_file){.attempt = 0};
    int result = file_read_at(job, "tasks", FILE_LIMIT, &bytes, error);
    if (result && errno == ENOENT)
        result = 1;
    else if (!result && parse_line(arena_take(arena, &bytes), arena, tasks))
        result = error_set(error, "tasks is damaged: found no line of numbers of tasks");
    buffer_free(&bytes);
    return result;
}

int tasks_file_write(int job, const struct tasks_file *tasks, struct error *error)
{
    struct buffer bytes = {0};
    const struct written written = {.id = text_of(tasks->scheduler_id),
                                    .state = text_of(tasks->scheduler_state),
                                    .attempt = tasks->attempt,
                                    .waiting = tasks->waiting,
                                    .running = tasks->running,
                                    .succeeded = tasks->succeeded,
                                    .failed = tasks->failed,
                                    .which_waiting = tasks->which_waiting,
                                    .which_running = tasks->which_running,
                                    .which_succeeded = tasks->which_succeeded,
                                    .which_failed = tasks->which_failed};
    eventlog_start(&bytes, tasks->time, "tasks");
    pairs_add(&bytes, fields, ARRAY_COUNT(fields), &written);
    eventlog_end(&bytes);
    int result = spool_file_renew(job, "tasks", buffer_text(&bytes), FILE_MODE, error);
    buffer_free(&bytes);
    return result;
}
