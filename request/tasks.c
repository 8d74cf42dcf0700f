/* request/tasks.c - the roles of a job */
#include "request/tasks.h"

#include <stddef.h>

#include "base/quantity.h"
#include "request/arguments.h"
#include "request/field_tables.h"
#include "request/ports.h"
#include "request/synonyms.h"
#include "request/values.h"

#define MEMBER(name) .offset = offsetof(struct task_role, name)

/* Read memory.  A number alone counts bytes, as in Kubernetes; a very small one is refused as a
 * mistake. */
static void read_memory(struct reading *reading, const struct value_path *path,
                        const struct value *value, const struct field *field, void *into)
{
    static const double fewest = 16 << 20;
    char size[QUANTITY_TEXT_SIZE];
    if (value->kind == VALUE_NUMBER && value->number >= (double)field->least &&
        value->number < fewest)
        problems_expected(reading, path, value,
                          "a size such as 512Mi or 16Gi; a number alone counts bytes, and this is "
                          "%s",
                          quantity_format_bytes((int64_t)value->number, size));
    else
        read_bytes(reading, path, value, field, into);
}

static const struct field fields[] = {
    {FIELD_NAME("count"), read_integer, MEMBER(count), .least = 1, .most = TASKS_MOST},
    {FIELD_NAME("cpus"), read_cpus, MEMBER(cpus), .least = CPUS_LEAST, .most = CPUS_MOST},
    {FIELD_NAME("memory"), read_memory, MEMBER(memory), .least = MEMORY_LEAST, .most = MEMORY_MOST},
    {FIELD_NAME("gpus"), read_integer, MEMBER(gpus), .least = 0, .most = GPUS_MOST},
    {FIELD_NAME("shm"), read_bytes, MEMBER(shm), .least = SHM_LEAST, .most = MEMORY_MOST},
    {FIELD_NAME("command"), read_words, MEMBER(command), .least = 1,
     .count_offset = offsetof(struct task_role, command_count)},
    {FIELD_NAME("env"), read_environment, MEMBER(environment)},
    {FIELD_NAME("ports"), read_ports, MEMBER(ports),
     .count_offset = offsetof(struct task_role, ports_count)},
};

const struct field_table task_fields = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "a task role",
    .other = &job_fields,
    .synonyms = task_synonyms,
};

static struct task_role role_default(struct text name)
{
    return (struct task_role){
        .role = name, .count = DEFAULT_COUNT, .cpus = DEFAULT_CPUS, .memory = DEFAULT_MEMORY};
}

/* Read a role: its name, its fields, and that shm fits into the task's memory. */
static void read_role(struct reading *reading, const struct value_path *path,
                      const struct member *member, struct task_role *role)
{
    const struct value *map = member->value;
    struct error_quote_buffer buffer;
    if (!text_is_label(member->key, ROLE_LONGEST))
        problems_add(reading, path, member->line, member->column,
                     "found the role \"%s\", expected a name of at most %d small letters, digits "
                     "and inner hyphens",
                     error_quote(&buffer, member->key.data, member->key.length), (int)ROLE_LONGEST);
    if (map->kind != VALUE_OBJECT) {
        problems_expected(reading, path, map, "a map of the role's fields%s",
                          map->kind == VALUE_NULL ? " ({} for the defaults)" : "");
        return;
    }
    size_t found = reading->found;
    fields_read(reading, path, map, &task_fields, role);
    if (reading->found != found || role->shm <= role->memory)
        return;
    /* Pages of /dev/shm count as the task's memory. */
    char shm[QUANTITY_TEXT_SIZE], memory[QUANTITY_TEXT_SIZE];
    struct value_path field = {.above = path, .name = TEXT("shm")};
    const struct value *value = fields_given(map, "shm");
    problems_add(reading, &field, value->line, value->column,
                 "found %s, expected at most the task's memory, %s%s",
                 quantity_format_bytes(role->shm, shm), quantity_format_bytes(role->memory, memory),
                 fields_given(map, "memory") ? "" : " (the default)");
}

void read_tasks(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    if (value->kind != VALUE_OBJECT || value->object.count == 0) {
        problems_expected(reading, path, value,
                          "a map of one or more roles such as {worker: "
                          "{count: 2}}");
        return;
    }
    size_t count = value->object.count;
    size_t found = reading->found;
    int64_t total = 0;
    struct task_role *roles = arena_allocate(reading->arena, count * sizeof(*roles));
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &value->object.members[i];
        struct value_path role = {.above = path, .name = member->key};
        roles[i] = role_default(member->key);
        read_role(reading, &role, member, &roles[i]);
        total += roles[i].count;
    }
    if (reading->found == found && total > TASKS_MOST)
        problems_add(reading, path, value->line, value->column,
                     "found %lld tasks in all roles, expected at most %d", (long long)total,
                     (int)TASKS_MOST);
    *(struct task_role **)into = roles;
    *(size_t *)((char *)into - field->offset + field->count_offset) = count;
}

void tasks_default(struct arena *arena, struct description *job)
{
    job->tasks = arena_allocate(arena, sizeof(*job->tasks));
    job->tasks[0] = role_default(TEXT(DEFAULT_ROLE));
    job->tasks_count = 1;
}
