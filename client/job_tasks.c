/* client/job_tasks.c - the tasks of a job by their roles, and what each ended with */
#include "client/job_tasks.h"

#include <string.h>

#include "base/file.h"
#include "base/ranges.h"
#include "base/system.h"
#include "request/dialects/dialects.h"
#include "spool/eventlog.h"

enum { REQUEST_LIMIT = 1 << 20, MOST_TASKS = 10000 };

static void add_task(struct arena *arena, struct job_tasks *tasks, size_t *capacity,
                     struct text role, struct text label, int index)
{
    tasks->items = arena_grow(arena, tasks->items, tasks->count, capacity, sizeof(*tasks->items));
    tasks->items[tasks->count++] = (struct job_task){
        .role = role,
        .log = arena_printf(arena, "%.*s-%d.log", (int)label.length, label.data, index),
        .index = index,
        .exit_code = -1};
}

/* Those of the job file.  False when it cannot be read. */
static bool take_request(int job, struct arena *arena, const struct job_view *view,
                         struct job_tasks *tasks)
{
    struct buffer source = {0};
    struct text file = view->record.request_file;
    size_t capacity = 0;
    if (!file.length || memchr(file.data, '/', file.length))
        return false;
    const char *name = arena_text(arena, file.data, file.length).data;
    if (file_read_at(job, name, REQUEST_LIMIT, &source, NULL))
        return false;
    const struct description *description =
        dialects_read(arena, arena_take(arena, &source), name, NULL);
    for (size_t i = 0; description && i < description->tasks_count; i++) {
        const struct task_role *role = &description->tasks[i];
        for (int index = 0; index < role->count && tasks->count < MOST_TASKS; index++)
            add_task(arena, tasks, &capacity, role->name.length ? role->name : role->role,
                     role->role, index);
    }
    return tasks->count > 0;
}

/* Cut "worker-3" into the role and the index.  False when it is no task's name. */
static bool read_task_name(struct text word, struct text *role, int *index)
{
    size_t at = word.length;
    while (at && word.data[at - 1] >= '0' && word.data[at - 1] <= '9')
        at--;
    if (at < 2 || word.data[at - 1] != '-')
        return false;
    *role = (struct text){word.data, at - 1};
    *index = (int)text_number((struct text){word.data + at, word.length - at}, MOST_TASKS);
    return *index >= 0;
}

/* The task with that file in output/; they are told in the order in which they are here, so it is mostly at *next. */
static struct job_task *find_task(const struct job_tasks *tasks, struct text log, size_t *next)
{
    for (size_t i = 0; i < tasks->count; i++) {
        struct job_task *task = &tasks->items[(*next + i) % tasks->count];
        if (!text_equal(task->log, log))
            continue;
        *next = (size_t)(task - tasks->items) + 1;
        return task;
    }
    return NULL;
}

/* What the end of this attempt says of each task; with `add` it says which there are. */
static void take_end(struct arena *arena, struct event *event, struct job_tasks *tasks, bool add)
{
    struct text key, value, role;
    size_t capacity = 0, next = 0;
    int index;
    if (add)
        *tasks = (struct job_tasks){.count = 0};
    while (eventlog_next_pair(&event->rest, arena, &key, &value)) {
        if (!read_task_name(key, &role, &index))
            continue;
        if (add && tasks->count < MOST_TASKS)
            add_task(arena, tasks, &capacity, role, role, index);
        struct text log = arena_printf(arena, "%.*s.log", (int)key.length, key.data);
        struct job_task *task =
            add && tasks->count ? &tasks->items[tasks->count - 1] : find_task(tasks, log, &next);
        if (task)
            task->exit_code = (int)text_number(value, INT32_MAX);
    }
}

static void take_log(int job, struct arena *arena, const struct job_view *view,
                     struct job_tasks *tasks, bool add)
{
    struct buffer log = {0};
    struct event event;
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest =
            arena_text(arena, buffer_text(&log).data, log.length); /* roles point into it */
        while (eventlog_next(&rest, &event))
            if (text_is(event.name, "ended") &&
                eventlog_get_number(&event, "attempt", 0) == view->record.attempt)
                take_end(arena, &event, tasks, add);
    }
    buffer_free(&log);
}

void job_tasks_find(const struct spool *spool, struct arena *arena, const struct job_view *view,
                    struct job_tasks *tasks)
{
    size_t capacity = 0;
    int job = job_open(spool, &view->place);
    *tasks = (struct job_tasks){.count = 0};
    if (job >= 0) {
        bool known = take_request(job, arena, view, tasks);
        take_log(job, arena, view, tasks, !known);
        sys.close(job);
    }
    if (!tasks->count)
        add_task(arena, tasks, &capacity, TEXT("main"), TEXT("main"), 0);
}

static int count_indexes(struct arena *arena, struct text list)
{
    int *numbers;
    size_t count;
    return ranges_parse(arena, list, MOST_TASKS, &numbers, &count, NULL) ? 0 : (int)count;
}

/* The tasks that the scheduler has told of; 1: it has told nothing. */
static int count_told(const struct spool *spool, struct arena *arena, const struct job_view *view)
{
    struct tasks_file tasks;
    int job = job_open(spool, &view->place);
    bool told = job >= 0 && tasks_file_read(job, arena, &tasks, NULL) == 0;
    if (job >= 0)
        sys.close(job);
    return told && tasks_file_total(&tasks) > 0 ? tasks_file_total(&tasks) : 1;
}

static struct job_tasks_number count_roles(const struct job_tasks *tasks)
{
    struct job_tasks_number number = {(int)tasks->count, 0};
    for (size_t i = 0; i < tasks->count; i++)
        number.roles += i == 0 || !text_equal(tasks->items[i].role, tasks->items[i - 1].role);
    return number;
}

struct job_tasks_number job_tasks_count(const struct spool *spool, struct arena *arena,
                                        const struct job_view *view)
{
    static const char *const several[] = {"roles", "ps", "mpi"};
    struct job_tasks tasks;
    if (view->record.array.length)
        return (struct job_tasks_number){count_indexes(arena, view->record.array), 1};
    for (size_t i = 0; i < ARRAY_COUNT(several); i++) {
        if (!text_is(view->record.type, several[i]))
            continue;
        job_tasks_find(spool, arena, view, &tasks);
        return count_roles(&tasks);
    }
    return (struct job_tasks_number){count_told(spool, arena, view), 1};
}
