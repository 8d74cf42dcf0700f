/* client/array_tasks.c - the tasks of an array by their indexes: the state of each */
#include "client/array_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranges.h"
#include "spool/eventlog.h"

enum { MOST_TASKS = 1 << 20 };

struct list {
    int *numbers;
    size_t count;
};

static struct list list_of(struct arena *arena, struct text text)
{
    struct list list = {0};
    if (text.length && ranges_parse(arena, text, MOST_TASKS, &list.numbers, &list.count, NULL))
        list.count = 0;
    return list;
}

static bool has(const struct list *list, int number)
{
    for (size_t low = 0, high = list->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (list->numbers[middle] == number)
            return true;
        if (list->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct array_task *first = a, *second = b;
    return first->index < second->index ? -1 : first->index > second->index;
}

/* While the executor has the job: by what it last said of each. */
static void take_states(struct arena *arena, const struct job_view *view, struct array_task *items,
                        size_t count)
{
    const struct tasks_file *file = &view->tasks;
    const struct {
        struct text numbers;
        enum job_state state;
    } told[] = {
        {file->which_waiting, JOB_QUEUED},
        {file->which_running, view->situation.state == JOB_STOPPING ? JOB_STOPPING : JOB_RUNNING},
        {file->which_succeeded, JOB_DONE},
        {file->which_failed, JOB_FAILED}};
    for (size_t i = 0; i < ARRAY_COUNT(told); i++) {
        struct list list = list_of(arena, told[i].numbers);
        for (size_t k = 0; k < list.count; k++)
            if (list.numbers[k] >= 0 && (size_t)list.numbers[k] < count)
                items[list.numbers[k]].state = told[i].state;
    }
}

/* The state of a task of this attempt where that is not the executor's to say: once the attempt has ended, what
 * is left of it is listed. */
static enum job_state state_of(const struct job_view *view, const struct list *left, int index)
{
    return left->count && !has(left, index) ? JOB_DONE : view->situation.state;
}

/* Add those of a list that this attempt does not run. */
static void add_others(struct array_tasks *tasks, const struct list *own, const struct list *others,
                       enum job_state state)
{
    for (size_t i = 0; i < others->count; i++)
        if (!has(own, others->numbers[i]))
            tasks->items[tasks->count++] =
                (struct array_task){.index = others->numbers[i], .number = -1, .state = state};
}

/* Sort them, and keep one of each index. */
static void sort_tasks(struct array_tasks *tasks)
{
    size_t kept = 0;
    if (tasks->count)
        qsort(tasks->items, tasks->count, sizeof(*tasks->items), compare_tasks);
    for (size_t i = 0; i < tasks->count; i++)
        if (!kept || tasks->items[kept - 1].index != tasks->items[i].index)
            tasks->items[kept++] = tasks->items[i];
    tasks->count = kept;
}

void array_tasks_find(struct arena *arena, const struct job_view *view, struct array_tasks *tasks)
{
    const struct job_record *record = &view->record;
    struct list own = list_of(arena, record->array), left = list_of(arena, record->array_left);
    struct list held = list_of(arena, view->tasks_held),
                aside = list_of(arena, record->array_aside);
    struct list late = list_of(arena, record->array_held);
    *tasks = (struct array_tasks){
        .items = arena_allocate(arena, (own.count + held.count + aside.count + late.count + 1) *
                                           sizeof(*tasks->items)),
        .count = own.count,
    };
    for (size_t i = 0; i < own.count; i++)
        tasks->items[i] = (struct array_task){.index = own.numbers[i],
                                              .number = (int)i,
                                              .state = state_of(view, &left, own.numbers[i])};
    if (view->place.state == STATE_SUBMITTED)
        take_states(arena, view, tasks->items, own.count);
    for (size_t i = 0; i < own.count; i++)
        if (has(&held, own.numbers[i]) && view->place.state != STATE_SUBMITTED)
            tasks->items[i].state = JOB_HELD;
    add_others(tasks, &own, &held, JOB_HELD);
    add_others(tasks, &own, &late, JOB_HELD);
    add_others(tasks, &own, &aside, JOB_FAILED);
    sort_tasks(tasks);
}

const struct array_task *array_tasks_get(const struct array_tasks *tasks, int index)
{
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->items[i].index == index)
            return &tasks->items[i];
    return NULL;
}

struct text array_tasks_list(struct arena *arena, const struct array_tasks *tasks,
                             enum job_state state)
{
    int *indexes = arena_allocate(arena, (tasks->count + 1) * sizeof(*indexes));
    struct buffer list = {0};
    size_t count = 0;
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->items[i].state == state)
            indexes[count++] = tasks->items[i].index;
    ranges_format(&list, indexes, count);
    return arena_take(arena, &list);
}

void array_tasks_put(struct arena *arena, struct value *tree, const struct job_view *view)
{
    struct member *array = value_member(tree, TEXT("array"));
    struct array_tasks tasks;
    if (!array || array->value->kind != VALUE_OBJECT)
        return;
    array_tasks_find(arena, view, &tasks);
    struct value *states = value_object(arena);
    for (int state = 0; state < JOB_STATES; state++) {
        struct text list = array_tasks_list(arena, &tasks, (enum job_state)state);
        if (list.length)
            value_put(arena, states, job_state_name((enum job_state)state),
                      value_text(arena, list));
    }
    value_put(arena, array->value, "states", states);
}

int array_tasks_exit_code(struct text log, int attempt, int number)
{
    struct arena *arena = arena_new();
    struct event event;
    struct text key, value;
    char ending[32];
    int code = -1;
    snprintf(ending, sizeof(ending), "-%d", number);
    while (eventlog_next(&log, &event))
        if (text_is(event.name, "ended") && eventlog_get_number(&event, "attempt", 0) == attempt)
            while (eventlog_next_pair(&event.rest, arena, &key, &value))
                if (text_ends(key, ending))
                    code = atoi(arena_text(arena, value.data, value.length).data);
    arena_free(arena);
    return code;
}

/* The index among the tasks of the job; what is in none of the lists has succeeded in an attempt before. */
static int choose_one(const struct job_view *view, const struct array_tasks *tasks, int index,
                      struct array_task *chosen, struct error *error)
{
    const struct array_task *task = array_tasks_get(tasks, index);
    if (!task && view->record.attempt < 2)
        return error_set(error, "%s has no task %d; its tasks are %.*s", view->place.id, index,
                         (int)view->record.array.length, view->record.array.data);
    *chosen = task ? *task : (struct array_task){.index = index, .number = -1, .state = JOB_DONE};
    return 0;
}

int array_tasks_choose(struct arena *arena, const struct job_view *view, struct text list,
                       struct array_tasks *chosen, struct error *error)
{
    struct array_tasks tasks;
    struct error problem;
    int *indexes;
    size_t count;
    *chosen = (struct array_tasks){.count = 0};
    if (!view->record.array.length)
        return error_set(error, "%s is no array (its type is %.*s), and has no tasks with indexes",
                         view->place.id, (int)view->record.type.length,
                         view->record.type.length ? view->record.type.data : "");
    if (ranges_parse(arena, list, MOST_TASKS, &indexes, &count, &problem))
        return error_set(error, "%s: the tasks: %s", view->place.id, problem.text);
    array_tasks_find(arena, view, &tasks);
    chosen->items = arena_allocate(arena, (count + 1) * sizeof(*chosen->items));
    for (size_t i = 0; i < count; i++)
        if (choose_one(view, &tasks, indexes[i], &chosen->items[chosen->count++], error))
            return -1;
    return 0;
}
