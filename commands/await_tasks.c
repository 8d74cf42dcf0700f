/* commands/await_tasks.c - wait for single tasks of an array */
#include "commands/await_tasks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "client/array_tasks.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "spool/eventlog.h"

static const struct timespec look_interval = {.tv_nsec = 200 * 1000000};

/* It has failed for good where another attempt of the job is not to come by itself. */
static bool has_ended(const struct job_view *view, const struct array_task *task)
{
    bool again = view->record.retried < view->record.retries && !view_has_ended(view);
    return task->state == JOB_DONE || (task->state == JOB_FAILED && (task->number < 0 || !again));
}

static void print_end(struct arena *arena, const struct job_view *view,
                      const struct array_task *task, const struct follow_options *options)
{
    if (options->json) {
        struct value *tree = value_object(arena);
        value_put(arena, tree, "id", value_string(arena, view->place.id));
        value_put(arena, tree, "task", value_number(arena, task->index));
        value_put(arena, tree, "state", value_string(arena, job_state_name(task->state)));
        print_json(tree);
    } else if (!options->quiet) {
        printf("%s/%d %s\n", view->place.id, task->index, job_state_name(task->state));
    }
    fflush(stdout);
}

/* What a task that failed ended with, as far as the log tells already; otherwise the status of that. */
static int status_of(const struct spool *spool, const struct job_view *view,
                     const struct array_task *task)
{
    struct buffer log = {0};
    int code = -1, job = job_open(spool, &view->place);
    if (job >= 0 && !eventlog_read(job, &log, NULL))
        code = array_tasks_exit_code(buffer_text(&log), view->record.attempt, task->number);
    if (job >= 0)
        sys.close(job);
    buffer_free(&log);
    return code > 0 ? code : STATUS_JOB_FAILED;
}

/* Look once; those that are told of already are in `told`, by their place in the list.  1: all have ended;
 * 0: not yet; otherwise -1 and *status. */
static int look(const struct spool *spool, const char *id, struct text list, struct buffer *told,
                const struct follow_options *options, int *status)
{
    struct arena *arena = arena_new();
    struct job_place place;
    struct job_view view;
    struct array_tasks tasks;
    struct error error;
    size_t ended = 0;
    int found = pick_find(spool, id, &place, &error);
    if (found == STATUS_DONE && view_read(spool, &place, arena, &view)) {
        arena_free(arena);
        return 0; /* it moves */
    }
    if (found == STATUS_DONE && array_tasks_choose(arena, &view, list, &tasks, &error))
        found = STATUS_NOT_FOUND;
    if (found != STATUS_DONE) {
        refuse_not_found(id, found, &error, options->json);
        *status = found;
        arena_free(arena);
        return -1;
    }
    while (told->length < tasks.count)
        buffer_add_byte(told, '-');
    for (size_t i = 0; i < tasks.count; i++) {
        if (told->data[i] == '-' && has_ended(&view, &tasks.items[i])) {
            told->data[i] = '+';
            print_end(arena, &view, &tasks.items[i], options);
            if (tasks.items[i].state == JOB_FAILED && *status == STATUS_DONE)
                *status = options->exit_status ? status_of(spool, &view, &tasks.items[i])
                                               : STATUS_JOB_FAILED;
        }
        ended += told->data[i] == '+';
    }
    arena_free(arena);
    return ended == tasks.count || (options->any && ended);
}

int await_tasks(const struct spool *spool, const char *id, struct text list,
                const struct follow_options *options)
{
    int64_t end = clock_elapsed() + options->timeout;
    struct buffer told = {0};
    struct follow_said said = {0};
    int status = STATUS_DONE, result;
    while ((result = look(spool, id, list, &told, options, &status)) == 0) {
        if (options->timeout && clock_elapsed() >= end) {
            if (!options->quiet)
                complain("%s/%.*s: the time is over", id, (int)list.length, list.data);
            status = STATUS_TIMEOUT;
            break;
        }
        if (!options->quiet)
            follow_jobs_say_waiting(spool, id, &said);
        nanosleep(&look_interval, NULL);
    }
    buffer_free(&told);
    return status;
}
