/* stages/shared/sweep.c - which tasks of an array an attempt runs, and which of them are left */
#include "stages/shared/sweep.h"

#include <string.h>

#include "base/ranges.h"
#include "request/array.h"

enum { SHOWN_LONGEST = 120 }; /* bytes of a list of indexes in a sentence */

/* Ascending indexes, each once. */
struct set {
    int *items;
    size_t count;
};

static struct text format_indexes(struct arena *arena, const int *indexes, size_t count)
{
    struct buffer out = {0};
    ranges_format(&out, indexes, count);
    struct text list = arena_text(arena, out.data ? out.data : "", out.length);
    buffer_free(&out);
    return list;
}

static bool contains_index(const int *indexes, size_t count, int index)
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
            if (contains_index(array->indexes, array->count, selected[i]))
                selected[count++] = selected[i];
        if (count) {
            array->indexes = selected;
            array->count = count;
            description->tasks[0].count = (int)count;
        }
    }
    record->array = format_indexes(arena, array->indexes, array->count);
}

static struct set set_of(struct arena *arena, struct text list)
{
    struct set set = {0};
    if (list.length && ranges_parse(arena, list, 2 * ARRAY_MOST, &set.items, &set.count, NULL))
        set.count = 0;
    return set;
}

static struct text set_text(struct arena *arena, struct set set)
{
    return set.count ? format_indexes(arena, set.items, set.count) : (struct text){NULL, 0};
}

static struct text join_ranges(struct arena *arena, struct text a, struct text b)
{
    if (!a.length || !b.length)
        return a.length ? a : b;
    return arena_printf(arena, "%.*s,%.*s", (int)a.length, a.data, (int)b.length, b.data);
}

/* Those of `set` that `other` has, or has not. */
static struct set filter_set(struct arena *arena, struct set set, struct set other, bool wanted)
{
    struct set result = {arena_allocate(arena, (set.count + 1) * sizeof(int)), 0};
    for (size_t i = 0; i < set.count; i++)
        if (contains_index(other.items, other.count, set.items[i]) == wanted)
            result.items[result.count++] = set.items[i];
    return result;
}

/* The tasks that have not succeeded.  Of an attempt that is to come: those that it was to run, and those that
 * were left out. */
static struct set left_of(struct arena *arena, const struct job_record *record)
{
    return set_of(arena,
                  record->array_left.length
                      ? record->array_left
                      : join_ranges(arena, join_ranges(arena, record->array, record->array_aside),
                                    record->array_held));
}

/* The tasks that do not run again by themselves. */
static struct set stopped_of(struct arena *arena, const struct job_record *record)
{
    return set_of(arena, join_ranges(arena, record->array_killed, record->array_aside));
}

static struct set waiting_of(struct arena *arena, const struct job_record *record)
{
    return filter_set(arena, left_of(arena, record), stopped_of(arena, record), false);
}

/* The tasks that would run if none was held. */
static struct set wanted_of(struct arena *arena, const struct job_record *record,
                            const struct sweep_choice *choice)
{
    struct set left = left_of(arena, record);
    if (choice->by_hand && choice->only.length)
        return filter_set(arena, left, set_of(arena, choice->only), true);
    if (choice->by_hand)
        return left;
    return filter_set(arena, waiting_of(arena, record), set_of(arena, choice->killed), false);
}

bool sweep_continue(struct arena *arena, struct job_record *record,
                    const struct sweep_choice *choice)
{
    if (!record->array.length)
        return true;
    struct set left = left_of(arena, record), held = set_of(arena, choice->held);
    struct set wanted = wanted_of(arena, record, choice);
    struct set run = filter_set(arena, wanted, held, false);
    if (!run.count && left.count)
        return false;
    /* Where the record makes no sense, all tasks count as left. */
    struct set rest = filter_set(arena, left, run, false);
    record->array = set_text(arena, run);
    record->array_held = set_text(arena, filter_set(arena, rest, held, true));
    record->array_aside = set_text(arena, filter_set(arena, rest, held, false));
    record->array_left = record->array_killed = (struct text){NULL, 0};
    return true;
}

bool sweep_waits(struct arena *arena, const struct job_record *record,
                 const struct sweep_choice *choice)
{
    struct set wanted = wanted_of(arena, record, choice), held = set_of(arena, choice->held);
    return wanted.count && filter_set(arena, wanted, held, false).count == 0;
}

bool sweep_is_outdated(struct arena *arena, const struct job_record *record, struct text held)
{
    struct set now = set_of(arena, held);
    return filter_set(arena, set_of(arena, record->array), now, true).count ||
           filter_set(arena, set_of(arena, record->array_held), now, false).count;
}

static int check_tasks(struct arena *arena, struct set among, const char *id, struct text tasks,
                       const char *what, struct error *error)
{
    struct set wanted;
    if (ranges_parse(arena, tasks, ARRAY_MOST, &wanted.items, &wanted.count, error))
        return error_prefix(error, "%s: indexes of tasks", id);
    struct set others = filter_set(arena, wanted, among, false);
    if (others.count && among.count)
        error_set(error, "%s has no task of the index %d to be %s; there %s %s", id,
                  others.items[0], what, among.count == 1 ? "is" : "are",
                  sweep_shortened(arena, set_text(arena, among)).data);
    else if (others.count)
        error_set(error, "%s has no task left to be %s", id, what);
    return others.count ? -1 : 0;
}

int sweep_check_kill(const struct job_record *record, bool waits, const char *id, struct text tasks,
                     struct error *error)
{
    struct arena *arena = arena_new();
    struct set all = set_of(arena, join_ranges(arena, record->array, record->array_held));
    if (waits)
        all = waiting_of(arena, record);
    int result = check_tasks(arena, all, id, tasks, "killed", error);
    arena_free(arena);
    return result;
}

int sweep_check_retry(const struct job_record *record, struct text held, const char *id,
                      struct text tasks, struct error *error)
{
    struct arena *arena = arena_new();
    struct set others = filter_set(arena, left_of(arena, record), set_of(arena, held), false);
    int result = check_tasks(arena, others, id, tasks, "retried", error);
    arena_free(arena);
    return result;
}

int sweep_check_hold(const struct job_record *record, struct text held, const char *id,
                     struct text tasks, struct error *error)
{
    struct arena *arena = arena_new();
    struct set free = filter_set(arena, waiting_of(arena, record), set_of(arena, held), false);
    int result = check_tasks(arena, free, id, tasks, "held", error);
    arena_free(arena);
    return result;
}

int sweep_check_release(struct text held, const char *id, struct text tasks, struct error *error)
{
    struct arena *arena = arena_new();
    int result = check_tasks(arena, set_of(arena, held), id, tasks, "released", error);
    arena_free(arena);
    return result;
}

struct text sweep_join(struct arena *arena, struct text a, struct text b)
{
    return set_text(arena, set_of(arena, join_ranges(arena, a, b)));
}

struct text sweep_without(struct arena *arena, struct text list, struct text others)
{
    return set_text(arena, filter_set(arena, set_of(arena, list), set_of(arena, others), false));
}

struct text sweep_common(struct arena *arena, struct text a, struct text b)
{
    return set_text(arena, filter_set(arena, set_of(arena, a), set_of(arena, b), true));
}

struct text sweep_waiting(struct arena *arena, const struct job_record *record)
{
    return set_text(arena, waiting_of(arena, record));
}

bool *sweep_ranks(struct arena *arena, const struct job_record *record, struct text list,
                  size_t *count)
{
    struct set all = set_of(arena, record->array), set = set_of(arena, list);
    bool *ranks = arena_allocate(arena, all.count + 1);
    for (size_t i = 0; i < all.count; i++)
        ranks[i] = contains_index(set.items, set.count, all.items[i]);
    *count = all.count;
    return ranks;
}

struct text sweep_list(struct arena *arena, const struct job_record *record, const bool *ranks)
{
    struct set all = set_of(arena, record->array), set = {all.items, 0};
    for (size_t i = 0; i < all.count; i++)
        if (ranks[i])
            set.items[set.count++] = all.items[i];
    return set_text(arena, set);
}

bool sweep_is_incomplete(const struct job_record *record)
{
    return record->array_killed.length || record->array_aside.length || record->array_held.length;
}

bool sweep_lacks_held(const struct job_record *record)
{
    return record->array_held.length && !record->array_killed.length && !record->array_aside.length;
}

bool sweep_none_failed(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        if (!task->killed && !(task->ended && task->exit_code == 0))
            return false;
    }
    return poll->task_count || (poll->exit_code == 0 && !poll->reason[0]);
}

static bool has_succeeded(const struct task_state *task)
{
    return task->ended && task->exit_code == 0 && !task->killed;
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
    struct set killed = set_of(arena, record->array_killed);
    for (size_t i = 0; i < count; i++)
        if (!succeeded[i] || contains_index(killed.items, killed.count, indexes[i]))
            indexes[left++] = indexes[i];
    record->array_left = left                          ? format_indexes(arena, indexes, left)
                         : sweep_is_incomplete(record) ? (struct text){NULL, 0}
                                                       : record->array;
    struct text out = join_ranges(arena, record->array_aside, record->array_held);
    record->array_left =
        set_text(arena, set_of(arena, join_ranges(arena, record->array_left, out)));
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

static const char *name_of_sets(size_t count)
{
    return count == 1 ? "that of the index" : "those of the indexes";
}

/* "2 of 6 tasks failed, those of the indexes 3,7", or ", and 2 were killed, those of the indexes 3,7" behind
 * something. */
static void describe_some(struct buffer *out, struct arena *arena, struct set set, const char *of,
                          const char *one, const char *several)
{
    if (set.count)
        buffer_printf(out, "%s%zu%s %s, %s %s", out->length ? ", and " : "", set.count,
                      out->length ? "" : of, set.count == 1 ? one : several,
                      name_of_sets(set.count), sweep_shortened(arena, set_text(arena, set)).data);
}

void sweep_describe(struct buffer *out, const struct job_record *record)
{
    struct arena *arena = arena_new();
    struct set killed = set_of(arena, record->array_killed);
    struct set aside = set_of(arena, record->array_aside);
    struct set held = set_of(arena, record->array_held);
    struct set all = set_of(arena, record->array), left = set_of(arena, record->array_left);
    struct set failed =
        filter_set(arena, filter_set(arena, left, stopped_of(arena, record), false), held, false);
    if (all.count && left.count) {
        const char *of =
            arena_printf(arena, " of %zu %s", all.count, all.count == 1 ? "task" : "tasks").data;
        describe_some(out, arena, failed, of, "failed", "failed");
        describe_some(out, arena, killed, of, "was killed", "were killed");
        describe_some(out, arena, aside, aside.count == 1 ? " task" : " tasks", "was not run again",
                      "were not run again");
        describe_some(out, arena, held, held.count == 1 ? " task" : " tasks", "is held",
                      "are held");
    }
    arena_free(arena);
}
