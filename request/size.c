/* request/size.c - how many tasks an elastic job may have: size{min, max} */
#include "request/size.h"

#include <stddef.h>

#include "request/later.h"
#include "request/tasks.h"
#include "request/values.h"

#define FROM_MIN(name) offsetof(struct description, name) - offsetof(struct description, size_min)

static const struct field fields[] = {
    {FIELD_NAME("min"), read_integer, .offset = FROM_MIN(size_min), .least = 1, .most = TASKS_MOST},
    {FIELD_NAME("max"), read_integer, .offset = FROM_MIN(size_max), .least = 1, .most = TASKS_MOST},
    {FIELD_NAME("step"), read_integer, .least = 1, .most = TASKS_MOST, .later = true},
};

static const struct field_table table = {
    .fields = fields,
    .count = sizeof(fields) / sizeof(fields[0]),
    .owner = "size",
};

void read_size(struct reading *reading, const struct path *path, const struct value *value,
               const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_OBJECT)
        problem_expected(reading, path, value, "a map such as {min: 2, max: 8}");
    else
        fields_read(reading, path, value, &table, into);
}

static void check_bound(struct reading *reading, const struct value *size, const char *name,
                        int bound, int count)
{
    const struct value *value = field_given(size, name);
    struct path above = {.name = TEXT("size")};
    struct path path = {.above = &above, .name = text_of(name)};
    bool least = text_is(text_of(name), "min");
    if (value && (least ? bound > count : bound < count))
        problem_add(reading, &path, value->line, value->column,
                    "found %d, expected at %s %d, the tasks that the job begins with", bound,
                    least ? "most" : "least", count);
}

void check_size(struct reading *reading, const struct value *root, struct description *job)
{
    const struct value *size = field_given(root, "size"), *tasks = field_given(root, "tasks");
    struct path path = {.name = TEXT("size")};
    if (!text_is(job->type, "elastic")) {
        if (size && job->type.length)
            problem_add(reading, &path, size->line, size->column,
                        "found with another type of job, expected type: elastic as well");
        return;
    }
    path.name = TEXT("tasks");
    if (job->tasks_count > 1)
        problem_add(reading, &path, tasks->line, tasks->column,
                    "found several roles, expected one, as the type is elastic");
    if (reading->found)
        return;
    int count = job->tasks[0].count;
    check_bound(reading, size, "min", job->size_min, count);
    check_bound(reading, size, "max", job->size_max, count);
    job->size_min = job->size_min ? job->size_min : 1;
    job->size_max = job->size_max ? job->size_max : count;
}
