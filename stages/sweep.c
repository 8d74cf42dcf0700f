/* stages/sweep.c - which tasks of an array an attempt runs, and which of them are left */
#include "stages/sweep.h"

#include <string.h>

#include "base/ranges.h"
#include "request/array.h"

enum { SHOWN_LONGEST = 120 }; /* bytes of a list of indexes in a sentence */

static struct text format(struct arena *arena, const int *indexes, size_t count)
{
    struct buffer out = {0};
    ranges_format(&out, indexes, count);
    struct text list = arena_text(arena, out.data ? out.data : "", out.length);
    buffer_free(&out);
    return list;
}

static bool contains(const int *indexes, size_t count, int index)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (indexes[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && indexes[low] == index;
}

void sweep_select(struct arena *arena, struct job_record *record, struct description *description)
{
    struct array *array = &description->array;
    int *selected;
    size_t count = 0, selected_count;
    if (!array->count)
        return;
    /* A record that was edited by hand cannot add what the user did not ask for. */
    if (record->array.length &&
        ranges_parse(arena, record->array, ARRAY_MOST, &selected, &selected_count, NULL) == 0) {
        for (size_t i = 0; i < selected_count; i++)
            if (contains(array->indexes, array->count, selected[i]))
                selected[count++] = selected[i];
        if (count) {
            array->indexes = selected;
            array->count = count;
            description->tasks[0].count = (int)count;
        }
    }
    record->array = format(arena, array->indexes, array->count);
}

void sweep_go_on(struct job_record *record)
{
    if (record->array_left.length)
        record->array = record->array_left;
    record->array_left = (struct text){NULL, 0};
}

static bool has_succeeded(const struct task_state *task)
{
    return task->ended && task->exit_code == 0;
}

void sweep_note_left(struct arena *arena, struct job_record *record, const struct job_poll *poll)
{
    int *indexes;
    size_t count, left = 0;
    if (!record->array.length ||
        ranges_parse(arena, record->array, ARRAY_MOST, &indexes, &count, NULL))
        return;
    bool *succeeded = arena_allocate(arena, count * sizeof(*succeeded));
    for (size_t i = 0; i < poll->task_count; i++)
        if (poll->tasks[i].index >= 0 && (size_t)poll->tasks[i].index < count)
            succeeded[poll->tasks[i].index] = has_succeeded(&poll->tasks[i]);
    for (size_t i = 0; i < count; i++)
        if (!succeeded[i])
            indexes[left++] = indexes[i];
    record->array_left = left ? format(arena, indexes, left) : record->array;
}

struct text sweep_shortened(struct arena *arena, struct text list)
{
    size_t length = list.length;
    if (length <= SHOWN_LONGEST)
        return list;
    length = SHOWN_LONGEST;
    while (length > 0 && list.data[length - 1] != ',')
        length--;
    return arena_printf(arena, "%.*s...", (int)length, list.data);
}

void sweep_describe(struct buffer *out, const struct job_record *record)
{
    struct arena *arena = arena_new();
    int *indexes;
    size_t all, left;
    if (record->array.length && record->array_left.length &&
        ranges_parse(arena, record->array, ARRAY_MOST, &indexes, &all, NULL) == 0 &&
        ranges_parse(arena, record->array_left, ARRAY_MOST, &indexes, &left, NULL) == 0)
        buffer_printf(out, "%zu of %zu %s failed, %s %s", left, all, all == 1 ? "task" : "tasks",
                      left == 1 ? "that of the index" : "those of the indexes",
                      sweep_shortened(arena, record->array_left).data);
    arena_free(arena);
}
