/* request/dlworkspace/draft.c - the draft of DLWorkspace's second job format */
#include "request/dlworkspace/draft.h"

#include <stddef.h>
#include <string.h>

#include "request/fields.h"
#include "request/notes.h"
#include "request/roles.h"
#include "request/tasks.h"
#include "request/values.h"

enum {
    NAME_LONGEST = 1024,
    ROLE_NAME_LONGEST = 32,
    IMAGE_LONGEST = 512,
    COMMAND_LONGEST = 1 << 20,
    CLUSTER_LONGEST = 255,
    MEMORY_MOST_MB = 1 << 28,
    NEVER = -1,
};

struct draft {
    struct text name, email, cluster;
    const struct value *roles, *options;
};

struct draft_role {
    int replicas, failed, succeeded, memory, gpus;
    int64_t cpus;
    struct text image, command;
};

#define READER(reader)                                                                             \
    static void reader(struct reading *reading, const struct value_path *path,                     \
                       const struct value *value, const struct field *field, void *into)

/* The structure that the member at `into` is part of. */
static void *structure_of(void *into, const struct field *field)
{
    return (char *)into - field->offset;
}

static void read_map(struct reading *reading, const struct value_path *path,
                     const struct value *value, const struct field_table *table, void *into)
{
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value, "a map of the fields of %s", table->owner);
    else
        fields_read(reading, path, value, table, into);
}

/* struct text: one line. */
READER(read_line)
{
    struct text text;
    bool good = values_scalar_text(value, false, &text) && text.length > 0 &&
                text.length <= (size_t)field->most;
    for (size_t i = 0; good && i < text.length; i++)
        good = (unsigned char)text.data[i] >= 0x20 && text.data[i] != 0x7f;
    if (!good)
        problems_expected(reading, path, value, "a text on one line");
    else
        *(struct text *)into = text;
}

READER(read_any_map)
{
    (void)field;
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value, "a map");
    else
        *(const struct value **)into = value;
}

/* ---- a role ---- */

static const struct field resource_fields[] = {
    {FIELD_NAME("cpu"), read_cpus, .offset = offsetof(struct draft_role, cpus), .least = CPUS_LEAST,
     .most = CPUS_MOST},
    {FIELD_NAME("memory_mb"), read_integer, .offset = offsetof(struct draft_role, memory),
     .least = MEMORY_LEAST >> 20, .most = MEMORY_MOST_MB},
    {FIELD_NAME("gpu"), read_integer, .offset = offsetof(struct draft_role, gpus), .least = 0,
     .most = GPUS_MOST},
};
static const struct field_table resource_table = {
    .fields = resource_fields, .count = ARRAY_COUNT(resource_fields), .owner = "resource"};

READER(read_resource)
{
    read_map(reading, path, value, &resource_table, structure_of(into, field));
}

static const struct field policy_fields[] = {
    {FIELD_NAME("min_failed_task_count"), read_integer,
     .offset = offsetof(struct draft_role, failed), .least = 1, .most = TASKS_MOST},
    {FIELD_NAME("min_succeeded_task_count"), read_integer,
     .offset = offsetof(struct draft_role, succeeded), .least = 1, .most = TASKS_MOST},
};
static const struct field_table policy_table = {
    .fields = policy_fields, .count = ARRAY_COUNT(policy_fields), .owner = "completion_policy"};

READER(read_policy)
{
    read_map(reading, path, value, &policy_table, structure_of(into, field));
}

static const struct field role_fields[] = {
    {FIELD_NAME("replicas"), read_integer, .offset = offsetof(struct draft_role, replicas),
     .least = 1, .most = TASKS_MOST},
    {FIELD_NAME("image"), read_image, .offset = offsetof(struct draft_role, image),
     .most = IMAGE_LONGEST},
    {FIELD_NAME("completion_policy"), read_policy, .offset = 0},
    {FIELD_NAME("resource"), read_resource, .offset = 0},
    {FIELD_NAME("cmd"), read_script, .offset = offsetof(struct draft_role, command),
     .most = COMMAND_LONGEST},
};
static const struct field_table role_table = {
    .fields = role_fields, .count = ARRAY_COUNT(role_fields), .owner = "a role"};

/* [a-zA-Z][a-zA-Z0-9_-]* */
static bool is_role_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '_' || c == '-')))
            return false;
    }
    return name.length > 0 && name.length <= ROLE_NAME_LONGEST;
}

/* Read a role of the draft format, with its defaults, into a role of tasks and its rule of
 * completion. */
static void read_role(struct reading *reading, const struct value_path *path,
                      const struct member *member, struct task_role *role,
                      struct completion *completion)
{
    struct error_quote_buffer buffer;
    struct draft_role given = {.replicas = 1, .failed = 1, .succeeded = NEVER};
    if (!is_role_name(member->key))
        problems_add(reading, path, member->line, member->column,
                     "found the name \"%s\", expected at most %d letters, digits, _ and -, the "
                     "first of them a letter",
                     error_quote(&buffer, member->key.data, member->key.length),
                     (int)ROLE_NAME_LONGEST);
    read_map(reading, path, member->value, &role_table, &given);
    struct value_path command = {.above = path, .name = TEXT("cmd")};
    if (!fields_given(member->value, "cmd"))
        problems_add(reading, &command, member->line, member->column,
                     "missing, expected the command that is to run");
    struct value_path policy = {.above = path, .name = TEXT("completion_policy")};
    if (given.failed > given.replicas || given.succeeded > given.replicas)
        problems_add(reading, &policy, member->line, member->column,
                     "found more tasks than the role's %d", given.replicas);
    role->name = member->key;
    role->count = given.replicas;
    role->cpus = given.cpus ? given.cpus : DEFAULT_CPUS;
    role->memory = given.memory ? (int64_t)given.memory << 20 : DEFAULT_MEMORY;
    role->gpus = given.gpus;
    role->image = given.image;
    role->script = arena_printf(reading->arena, "#!/bin/bash\n%.*s\n", (int)given.command.length,
                                given.command.length ? given.command.data : "");
    role->script_masked = role->script;
    completion->failed = given.failed;
    completion->succeeded = given.succeeded;
}

/* Read all roles into job->tasks and job->complete, and check the sum of their replicas. */
static void read_roles(struct reading *reading, const struct value *roles, struct description *job)
{
    struct role_names labels;
    struct value_path job_path = {.name = TEXT("job")};
    struct value_path path = {.above = &job_path, .name = TEXT("roles")};
    size_t count = roles->object.count;
    int64_t total = 0;
    if (count == 0)
        problems_expected(reading, &path, roles, "a map of one or more roles");
    roles_start(reading->arena, &labels);
    job->tasks = arena_allocate(reading->arena, (count + 1) * sizeof(*job->tasks));
    job->complete = arena_allocate(reading->arena, (count + 1) * sizeof(*job->complete));
    job->tasks_count = job->complete_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &roles->object.members[i];
        struct value_path role = {.above = &path, .name = member->key};
        job->tasks[i].role = roles_label(reading->arena, &labels, member->key);
        job->complete[i].role = job->tasks[i].role;
        read_role(reading, &role, member, &job->tasks[i], &job->complete[i]);
        total += job->tasks[i].count;
    }
    if (total > TASKS_MOST)
        problems_add(reading, &path, roles->line, roles->column,
                     "found %lld replicas in all roles, expected at most %d", (long long)total,
                     (int)TASKS_MOST);
}

/* ---- the file ---- */

static const struct field user_fields[] = {
    {FIELD_NAME("email"), read_line, .offset = offsetof(struct draft, email),
     .most = CLUSTER_LONGEST},
    {FIELD_NAME("vc_name"), read_line, .offset = offsetof(struct draft, cluster),
     .most = CLUSTER_LONGEST},
};
static const struct field_table user_table = {
    .fields = user_fields, .count = ARRAY_COUNT(user_fields), .owner = "user"};

READER(read_user)
{
    read_map(reading, path, value, &user_table, structure_of(into, field));
}

static const struct field job_map_fields[] = {
    {FIELD_NAME("name"), read_line, .offset = offsetof(struct draft, name), .most = NAME_LONGEST},
    {FIELD_NAME("options"), read_any_map, .offset = offsetof(struct draft, options)},
    {FIELD_NAME("roles"), read_any_map, .offset = offsetof(struct draft, roles)},
};
static const struct field_table job_table = {
    .fields = job_map_fields, .count = ARRAY_COUNT(job_map_fields), .owner = "job"};

READER(read_job)
{
    read_map(reading, path, value, &job_table, structure_of(into, field));
}

static const struct field file_fields[] = {
    {FIELD_NAME("user"), read_user, .offset = 0},
    {FIELD_NAME("job"), read_job, .offset = 0},
};
static const struct field_table file_table = {
    .fields = file_fields, .count = ARRAY_COUNT(file_fields), .owner = "a DLWorkspace job"};

bool dlworkspace_draft_recognise(const struct value *root)
{
    return value_get(value_get(root, "job"), "roles") != NULL;
}

/* The first role's image is the job's, and other roles may have others. */
static void share_image(struct description *job)
{
    job->image = job->tasks[0].image;
    for (size_t i = 0; i < job->tasks_count; i++)
        if (text_equal(job->tasks[i].image, job->image))
            job->tasks[i].image = (struct text){NULL, 0};
}

struct description *dlworkspace_draft_read(struct reading *reading, const struct value *root)
{
    struct draft draft = {.roles = NULL};
    struct description *job = arena_allocate(reading->arena, sizeof(*job));
    struct value_path above = {.name = TEXT("job")};
    struct value_path path = {.above = &above, .name = TEXT("name")};
    const struct value *job_map = value_get(root, "job");
    fields_read(reading, NULL, root, &file_table, &draft);
    if (!fields_given(job_map, "name"))
        problems_add(reading, &path, job_map->line, job_map->column,
                     "missing, expected the job's name");
    struct value_path roles = {.above = &above, .name = TEXT("roles")};
    if (draft.roles)
        read_roles(reading, draft.roles, job);
    else if (!fields_given(job_map, "roles"))
        problems_add(reading, &roles, job_map->line, job_map->column,
                     "missing, expected a map of one or more roles");
    if (reading->found)
        return NULL;
    job->name = draft.name;
    job->library = TEXT("any");
    job->type = TEXT("roles");
    job->platform = (struct platform){.name = TEXT("dlworkspace"), .cluster = draft.cluster};
    share_image(job);
    if (draft.email.length)
        request_notes_add(reading->arena, &job->notes, "user.email",
                          "no effect here: a job is of the user who drops the file");
    for (size_t i = 0; draft.options && i < draft.options->object.count; i++) {
        struct error_quote_buffer buffer;
        const struct text key = draft.options->object.members[i].key;
        error_quote(&buffer, key.data, key.length);
        request_notes_add(reading->arena, &job->notes,
                          arena_printf(reading->arena, "job.options.%s", buffer.text).data,
                          "no effect here");
    }
    return job;
}
