/* request/complete.c - when a job of several roles ends: complete{role: {failed, succeeded}}
 *
 * The numbers count tasks of the role; complete_check() compares them with the role's count once
 * the tasks have been read.
 */
#include "request/complete.h"

#include <math.h>
#include <stddef.h>

#include "request/field_tables.h"
#include "request/tasks.h"
#include "request/values.h"

enum { NONE = -1 }; /* no number of tasks ends the job */

static void read_task_count(struct reading *reading, const struct value_path *path,
                            const struct value *value, const struct field *field, void *into)
{
    if (value->kind != VALUE_NUMBER || value->number != floor(value->number) ||
        value->number < NONE || value->number == 0 || value->number > (double)field->most)
        problems_expected(reading, path, value,
                          "a whole number from 1, or -1 when no number of tasks does it");
    else
        *(int *)into = (int)value->number;
}

static const struct field fields[] = {
    {FIELD_NAME("failed"), read_task_count, .offset = offsetof(struct completion, failed),
     .most = TASKS_MOST},
    {FIELD_NAME("succeeded"), read_task_count, .offset = offsetof(struct completion, succeeded),
     .most = TASKS_MOST},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "a role in complete",
    .other = &task_fields,
};

void read_complete(struct reading *reading, const struct value_path *path,
                   const struct value *value, const struct field *field, void *into)
{
    if (value->kind != VALUE_OBJECT) {
        problems_expected(reading, path, value,
                          "a map of roles such as {worker: {failed: 1, succeeded: 2}}");
        return;
    }
    size_t count = value->object.count;
    struct completion *roles = arena_allocate(reading->arena, (count + 1) * sizeof(*roles));
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &value->object.members[i];
        struct value_path role = {.above = path, .name = member->key};
        roles[i].role = member->key;
        if (member->value->kind != VALUE_OBJECT)
            problems_expected(reading, &role, member->value,
                              "how many tasks decide, such as {failed: 1, succeeded: 2}");
        else
            fields_read(reading, &role, member->value, &table, &roles[i]);
    }
    *(struct completion **)into = roles;
    *(size_t *)((char *)into - field->offset + field->count_offset) = count;
}

static void check_number(struct reading *reading, const struct value_path *above,
                         const struct value *map, const char *name, int number,
                         const struct task_role *role, const struct sizes *sizes)
{
    const struct value *value = fields_given(map, name);
    struct value_path path = {.above = above, .name = text_of(name)};
    bool sized = sizes->kind == SIZE_TASKS;
    int count = sized ? (int)sizes->least : role->count;
    if (value && number > count)
        problems_add(reading, &path, value->line, value->column,
                     "found %d, expected at most %d, the tasks that the role has%s", number, count,
                     sized ? " at its smallest size" : "");
}

void complete_check(struct reading *reading, const struct value *root,
                    const struct description *job)
{
    const struct value *map = fields_given(root, "complete");
    struct value_path path = {.name = TEXT("complete")};
    for (size_t i = 0; i < job->complete_count; i++) {
        const struct completion *entry = &job->complete[i];
        const struct member *member = &map->object.members[i];
        struct value_path role_path = {.above = &path, .name = entry->role};
        const struct task_role *role = NULL;
        for (size_t j = 0; j < job->tasks_count && !role; j++)
            if (text_equal(job->tasks[j].role, entry->role))
                role = &job->tasks[j];
        if (!role) {
            problems_add(reading, &role_path, member->line, member->column,
                         "there is no such role; expected one that tasks names");
            continue;
        }
        check_number(reading, &role_path, member->value, "failed", entry->failed, role,
                     &job->sizes);
        check_number(reading, &role_path, member->value, "succeeded", entry->succeeded, role,
                     &job->sizes);
    }
}
