/* stages/shared/hold_tasks.c - tasks of an array that wait until somebody releases them */
#include "stages/shared/hold_tasks.h"

#include <errno.h>

#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "stages/shared/sweep.h"

enum { TASKS_LIMIT = 8 * 1024 }; /* bytes of the file */

static const char file_name[] = "hold-tasks";

/* 1 and its bytes, 0 when there is none, or -1 and a sentence. */
static int read_file(int job, struct buffer *bytes, struct error *error)
{
    if (file_read_at(job, file_name, TASKS_LIMIT, bytes, error) == 0)
        return 1;
    buffer_clear(bytes);
    return errno == ENOENT || file_is_damaged(errno) ? 0 : -1;
}

static struct control_request request_of(struct arena *arena, const struct event *event)
{
    struct control_request request = {.uid = (uid_t)eventlog_get_number(event, "uid", -1),
                                      .when = event->time};
    control_file_copy_by(request.by, eventlog_get(arena, event, "by"));
    return request;
}

int hold_tasks_pending(int job, struct arena *arena, struct held_tasks *held)
{
    struct buffer bytes = {0};
    struct event event;
    *held = (struct held_tasks){.tasks = {"", 0}};
    int result = read_file(job, &bytes, NULL);
    struct text rest = buffer_text(&bytes);
    while (result > 0 && eventlog_next(&rest, &event)) {
        held->request = request_of(arena, &event);
        held->tasks = sweep_join(arena, held->tasks, eventlog_get(arena, &event, "array"));
    }
    buffer_free(&bytes);
    return result > 0 ? held->tasks.length > 0 : result;
}

bool hold_tasks_any(int job)
{
    struct held_tasks held;
    struct arena *arena = arena_new();
    int result = hold_tasks_pending(job, arena, &held);
    arena_free(arena);
    return result != 0;
}

static void add_line(struct buffer *lines, const struct control_request *by, struct text tasks)
{
    eventlog_start(lines, by->when, "hold");
    eventlog_add_string(lines, "by", by->by);
    eventlog_add_number(lines, "uid", by->uid);
    eventlog_add(lines, "array", tasks);
    eventlog_end(lines);
}

int hold_tasks_add(int job, struct text tasks, const struct control_request *by,
                   struct error *error)
{
    struct buffer line = {0}, all = {0};
    int result = read_file(job, &all, error);
    add_line(&line, by, tasks);
    buffer_add(&all, line.data, line.length);
    if (result >= 0 && all.length > TASKS_LIMIT) {
        error_set(error, "too many tasks were held one by one; name several at once, as in 0-99");
        result = 1;
    } else if (result >= 0) {
        result = spool_file_replace(job, file_name, buffer_text(&all), 0644, error) ||
                         eventlog_append(job, buffer_text(&line), error)
                     ? -1
                     : 0;
    }
    buffer_free(&line);
    buffer_free(&all);
    return result;
}

/* What stays held of the lines, appended to `kept`.  1 and a sentence when some of it is not theirs
 * to release. */
static int keep_others(struct arena *arena, struct text lines, struct text tasks,
                       const struct releaser *releaser, struct buffer *kept, struct error *error)
{
    struct event event;
    while (eventlog_next(&lines, &event)) {
        struct control_request holder = request_of(arena, &event);
        struct text held = eventlog_get(arena, &event, "array");
        struct text let_go = tasks.length ? sweep_common(arena, held, tasks) : held;
        struct text stay = sweep_without(arena, held, let_go);
        if (let_go.length && holder.uid != releaser->owner && !releaser->administrator) {
            error_set(error,
                      "%s: the tasks %s are held by %s; only an administrator may release them",
                      releaser->id, sweep_shortened(arena, let_go).data, holder.by);
            return 1;
        }
        if (stay.length)
            add_line(kept, &holder, stay);
    }
    return 0;
}

int hold_tasks_release(int job, struct text tasks, const struct releaser *releaser,
                       struct error *error)
{
    struct arena *arena = arena_new();
    struct buffer lines = {0}, kept = {0};
    int result = read_file(job, &lines, error);
    if (result > 0)
        result = keep_others(arena, buffer_text(&lines), tasks, releaser, &kept, error);
    if (!result && kept.length)
        result = spool_file_replace(job, file_name, buffer_text(&kept), 0644, error);
    else if (!result && lines.length && sys.unlinkat(job, file_name, 0) && errno != ENOENT)
        result = error_errno(error, "%s could not be removed", file_name);
    buffer_free(&lines);
    buffer_free(&kept);
    arena_free(arena);
    return result;
}
