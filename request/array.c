/* request/array.c - sweeps: array, the tasks of a job that differ by an index or by values
 *
 * Every form gives a list of ascending indexes.  An index numbers a combination of values as a
 * number is made of digits.
 */
#include "request/array.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/ranges.h"
#include "request/arguments.h"
#include "request/values.h"

#define EXAMPLES                                                                                   \
    "a number of tasks such as 10, indexes such as 0-99, 1,3,5-7 or 0-15:4, each perhaps with "    \
    "%%8 "                                                                                         \
    "at the end for at most 8 at once, or a map such as {indexes: 0-99, at_once: 8} or {values: "  \
    "{LR: [0.1, 0.01]}}"

/* The indexes 0 to count - 1. */
static void take_count(struct reading *reading, struct array *array, size_t count)
{
    int *indexes = arena_allocate(reading->arena, count * sizeof(*indexes));
    for (size_t i = 0; i < count; i++)
        indexes[i] = (int)i;
    array->indexes = indexes;
    array->count = count;
}

/* The digits of a number from 1 to ARRAY_MOST, or 0. */
static int small_number(struct text digits)
{
    int64_t number = digits.length > 5 ? 0 : text_number(digits, ARRAY_MOST);
    return number > 0 ? (int)number : 0;
}

static bool is_all_digits(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.length > 0;
}

/* A number of tasks, or a list of indexes. */
static void read_indexes(struct reading *reading, const struct value_path *path,
                         const struct value *value, struct text text, struct array *array)
{
    struct error error;
    int *indexes;
    if (is_all_digits(text)) {
        int count = small_number(text);
        if (count)
            take_count(reading, array, (size_t)count);
        else
            problems_expected(reading, path, value,
                              "from 1 to %d tasks; the index N alone is written N-N",
                              (int)ARRAY_MOST);
    } else if (ranges_parse(reading->arena, text, ARRAY_MOST, &indexes, &array->count, &error)) {
        problems_add(reading, path, value->line, value->column, "%s", error.text);
    } else {
        array->indexes = indexes;
    }
}

/* Read `LIST%N`: the list of indexes, and how many tasks run at once after the last %. */
static void read_text(struct reading *reading, const struct value_path *path,
                      const struct value *value, struct text text, struct array *array)
{
    size_t length = text.length;
    while (length > 0 && text.data[length - 1] != '%')
        length--;
    if (length > 0) {
        struct text at_once = {text.data + length, text.length - length};
        array->at_once = small_number(text_trim(at_once));
        if (!array->at_once) {
            problems_expected(reading, path, value,
                              "from 1 to %d tasks at once behind the %%, as in 0-99%%8",
                              (int)ARRAY_MOST);
            return;
        }
        text = text_trim((struct text){text.data, length - 1});
    }
    read_indexes(reading, path, value, text, array);
}

static void read_indexes_field(struct reading *reading, const struct value_path *path,
                               const struct value *value, const struct field *field, void *into)
{
    struct text text;
    (void)field;
    if (values_scalar_text(value, false, &text))
        read_indexes(reading, path, value, text_trim(text), into);
    else
        problems_expected(reading, path, value,
                          "a number of tasks such as 10, or indexes such as 0-99, 1,3,5-7 or "
                          "0-15:4");
}

static void read_choice(struct reading *reading, const struct value_path *above,
                        const struct member *member, struct array_choice *choice)
{
    struct value_path path = {.above = above, .name = member->key};
    const struct value *list = member->value;
    *choice = (struct array_choice){.name = member->key, .count = 1};
    arguments_check_variable(reading, &path, member);
    if (list->kind != VALUE_LIST || list->list.count == 0) {
        problems_expected(reading, &path, list, "a list of one or more values such as [0.1, 0.01]");
        return;
    }
    choice->count = list->list.count;
    struct text *values = arena_allocate(reading->arena, choice->count * sizeof(*values));
    choice->values = values;
    for (size_t i = 0; i < choice->count; i++) {
        struct value_path item = {.above = &path, .index = i};
        arguments_read_text(reading, &item, list->list.items[i], member->key.length + 1,
                            &values[i]);
    }
}

/* Read `values`: one task for each combination of the values. */
static void read_values_field(struct reading *reading, const struct value_path *path,
                              const struct value *value, const struct field *field, void *into)
{
    struct array *array = into;
    size_t total = 1, found = reading->found;
    (void)field;
    if (value->kind != VALUE_OBJECT || value->object.count == 0) {
        problems_expected(reading, path, value,
                          "a map of names to lists of values such as {LR: [0.1, 0.01]}");
        return;
    }
    array->choices_count = value->object.count;
    struct array_choice *choices =
        arena_allocate(reading->arena, array->choices_count * sizeof(*choices));
    array->choices = choices;
    for (size_t i = array->choices_count; i-- > 0;) {
        struct array_choice *choice = &choices[i];
        read_choice(reading, path, &value->object.members[i], choice);
        choice->stride = total;
        if (total <= ARRAY_MOST)
            total *= choice->count; /* far from overflow: a file has a bounded size */
    }
    if (reading->found != found)
        return;
    if (total > ARRAY_MOST)
        problems_add(reading, path, value->line, value->column,
                     "found more than %d combinations, expected at most that many",
                     (int)ARRAY_MOST);
    else
        take_count(reading, array, total);
}

static const struct field map_fields[] = {
    {FIELD_NAME("indexes"), read_indexes_field, .offset = 0},
    {FIELD_NAME("values"), read_values_field, .offset = 0},
    {FIELD_NAME("at_once"), read_integer, .offset = offsetof(struct array, at_once), .least = 1,
     .most = ARRAY_MOST},
};

static const struct field_table map_table = {
    .fields = map_fields,
    .count = ARRAY_COUNT(map_fields),
    .owner = "array",
};

static void read_map(struct reading *reading, const struct value_path *path,
                     const struct value *value, struct array *array)
{
    bool indexes = fields_given(value, "indexes"), values = fields_given(value, "values");
    size_t found = reading->found;
    fields_read(reading, path, value, &map_table, array);
    if (reading->found == found && indexes == values)
        problems_add(reading, path, value->line, value->column,
                     "found %s, expected exactly one of indexes and values",
                     indexes ? "both" : "neither");
}

void read_array(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    struct text text;
    (void)field;
    if (value->kind == VALUE_OBJECT)
        read_map(reading, path, value, into);
    else if (values_scalar_text(value, false, &text) && text_trim(text).length > 0)
        read_text(reading, path, value, text_trim(text), into);
    else
        problems_expected(reading, path, value, EXAMPLES);
}

static void problem_of(struct reading *reading, const struct value *root, const char *name,
                       const struct value *value, const char *sentence)
{
    struct value_path path = {.name = text_of(name)};
    problems_add(reading, &path, value ? value->line : root->line,
                 value ? value->column : root->column, "%s", sentence);
}

/* Set the one role's count to the number of indexes; a problem when the user gave another. */
static void check_count(struct reading *reading, const struct value *root, struct description *job)
{
    const struct value *tasks = fields_given(root, "tasks");
    const struct value *count =
        tasks ? fields_given(tasks->object.members[0].value, "count") : NULL;
    struct value_path path = {.name = TEXT("tasks")};
    struct value_path role = {.above = &path, .name = job->tasks[0].role};
    struct value_path field = {.above = &role, .name = TEXT("count")};
    if (count && (size_t)job->tasks[0].count != job->array.count)
        problems_add(reading, &field, count->line, count->column,
                     "found %d, expected %zu, the tasks that array makes; leave it out",
                     job->tasks[0].count, job->array.count);
    job->tasks[0].count = (int)job->array.count;
    job->array.total = job->array.count;
    job->array.least = job->array.count ? job->array.indexes[0] : 0;
    job->array.greatest = job->array.count ? job->array.indexes[job->array.count - 1] : 0;
}

void array_check(struct reading *reading, const struct value *root, struct description *job)
{
    const struct value *array = fields_given(root, "array");
    if (!text_is(job->type, "array")) {
        if (array && job->type.length)
            problem_of(reading, root, "array", array,
                       "found with another type of job, expected type: array as well");
        return;
    }
    if (!array)
        problem_of(reading, root, "array", NULL,
                   "missing, expected the tasks' indexes such as 0-99, or their values, as the "
                   "type is array");
    if (job->tasks_count > 1)
        problem_of(reading, root, "tasks", fields_given(root, "tasks"),
                   "found several roles, expected one, as the type is array");
    if (fields_given(root, "complete"))
        problem_of(reading, root, "complete", fields_given(root, "complete"),
                   "does not go with the type array, each of whose tasks is judged by itself; "
                   "leave it out");
    if (array && reading->found == 0)
        check_count(reading, root, job);
}
