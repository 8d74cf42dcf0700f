/* request/openpai/v2_roles.c - taskRoles of an OpenPAI v2 file
 *
 * The commands of a role, between the deployment's, are joined by newlines into a bash script, as
 * in OpenPAI since 1.0: a failing command does not stop those after it unless the script says `set
 * -e`.  Everybody on a machine can see command lines, so the script is a file, and secrets stay in
 * it.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "request/notes.h"
#include "request/openpai/v2_parts.h"
#include "request/openpai/v2_values.h"
#include "request/openpai/values.h"
#include "request/roles.h"
#include "request/tasks.h"

#define MEGABYTE ((int64_t)1 << 20)
#define DEFAULT_SHM (512 * MEGABYTE) /* as OpenPAI on Kubernetes */

enum {
    SCRIPT_LONGEST = 1 << 20, /* bytes, as for any job's script */
    NEVER = -1,               /* completion: no number of tasks ends the job */
};

static const struct text first_line = {"#!/bin/bash\n", sizeof("#!/bin/bash\n") - 1};

/* A role that is being read. */
struct role_reading {
    struct openpai_v2 *file;
    const struct value_path *path;
    const struct value *map;
    struct task_role *role;
    struct openpai_v2_names names;
    struct openpai_v2_text script;
};

static int64_t whole_number(const struct value *map, const char *key, int64_t otherwise)
{
    return (int64_t)value_get_number(map, key, (double)otherwise);
}

static void note_role(struct role_reading *reading, const char *name, const char *sentence)
{
    struct value_path path = {.above = reading->path, .name = text_of(name)};
    struct arena *arena = reading->file->reading->arena;
    request_notes_add(arena, &reading->file->job->notes, openpai_v2_value_place(arena, &path), "%s",
                      sentence);
}

/* ---- prerequisites ---- */

/* The prerequisite that the role's field names; a problem when there is none of that name. */
static const struct value *find_prerequisite(struct role_reading *reading, const char *field,
                                             const char *type)
{
    const struct value *name = value_get(reading->map, field);
    struct value_path path = {.above = reading->path, .name = text_of(field)};
    if (!name)
        return NULL;
    const struct value *found = openpai_v2_prerequisite_find(reading->file, type, name->string);
    if (!found)
        problems_expected(reading->file->reading, &path, name,
                          "the name of a prerequisite of type %s", type);
    return found;
}

static void read_image_name(struct role_reading *reading)
{
    const struct value *image = find_prerequisite(reading, "dockerImage", "dockerimage");
    if (image)
        reading->role->image = value_get_text(image, "uri");
}

/* Check `prerequisites`, a list of names of any type that only plugins use. */
static void check_listed(struct role_reading *reading)
{
    static const char *const types[] = {"dockerimage", "data", "script", "output"};
    const struct value *list = value_get(reading->map, "prerequisites");
    struct value_path path = {.above = reading->path, .name = TEXT("prerequisites")};
    for (size_t i = 0; list && i < list->list.count; i++) {
        const struct value *name = list->list.items[i];
        struct value_path item = {.above = &path, .index = i};
        bool found = false;
        for (size_t j = 0; j < ARRAY_COUNT(types) && !found; j++)
            found = openpai_v2_prerequisite_find(reading->file, types[j], name->string);
        if (!found)
            problems_expected(reading->file->reading, &item, name, "the name of a prerequisite");
    }
    if (list && list->list.count)
        note_role(reading, "prerequisites",
                  "no effect here: there is no plugin that would fetch them");
}

/* ---- resources ---- */

static int64_t raise_to_least(struct role_reading *reading, const char *name, int64_t asked,
                              int64_t least, const char *sentence)
{
    if (asked >= least)
        return asked;
    struct value_path resource = {.above = reading->path, .name = TEXT("resourcePerInstance")};
    struct value_path path = {.above = &resource, .name = text_of(name)};
    struct arena *arena = reading->file->reading->arena;
    request_notes_add(arena, &reading->file->job->notes, openpai_v2_value_place(arena, &path), "%s",
                      sentence);
    return least;
}

static void read_shm(struct role_reading *reading)
{
    const struct value *options = value_get(reading->map, "extraContainerOptions");
    struct task_role *role = reading->role;
    int64_t asked = whole_number(options, "shmMB", 0) * MEGABYTE;
    role->shm = asked ? asked : DEFAULT_SHM;
    if (role->shm <= role->memory)
        return;
    role->shm = role->memory;
    if (asked)
        note_role(reading, "extraContainerOptions.shmMB",
                  "more than memoryMB, against which it counts: taken as that");
}

/* Take the ports, which the shape check has accepted, and add the usual ones.  0 means one port. */
static void read_ports(struct role_reading *reading)
{
    enum { USUAL = 2 };
    const struct value *resource = value_get(reading->map, "resourcePerInstance");
    const struct value *ports = value_get(resource, "ports");
    struct task_role *role = reading->role;
    struct arena *arena = reading->file->reading->arena;
    size_t count = ports && ports->kind == VALUE_OBJECT ? ports->object.count : 0;
    role->ports = arena_allocate(arena, (count + USUAL) * sizeof(*role->ports));
    role->ports_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &ports->object.members[i];
        struct value_path parent = {.above = reading->path, .name = TEXT("resourcePerInstance")};
        struct value_path above = {.above = &parent, .name = TEXT("ports")};
        struct value_path path = {.above = &above, .name = member->key};
        bool any = member->value->number == 0;
        role->ports[i] = (struct port_request){.label = member->key,
                                               .count = any ? 1 : (int)member->value->number};
        if (any)
            request_notes_add(
                arena, &reading->file->job->notes, openpai_v2_value_place(arena, &path),
                "0: taken as one port of any number, as the first files of version 2 meant it");
    }
    openpai_values_usual_ports(role);
}

static void read_resources(struct role_reading *reading)
{
    const struct value *resource = value_get(reading->map, "resourcePerInstance");
    struct task_role *role = reading->role;
    role->count = (int)whole_number(reading->map, "instances", DEFAULT_COUNT);
    role->cpus = 1000 * raise_to_least(reading, "cpu", whole_number(resource, "cpu", 0), 1,
                                       "a task cannot run without a processor: taken as 1");
    role->memory =
        MEGABYTE * raise_to_least(reading, "memoryMB", whole_number(resource, "memoryMB", 0),
                                  MEMORY_LEAST / MEGABYTE,
                                  "a task cannot run with so little: taken as 4");
    role->gpus = (int)whole_number(resource, "gpu", 0);
    read_shm(reading);
    read_ports(reading);
}

/* ---- completion ---- */

/* A number of the completion rule: absent and 0 give `otherwise`, null and -1 mean NEVER. */
static int completion_number(struct role_reading *reading, const char *name, int otherwise)
{
    const struct value *completion = value_get(reading->map, "completion");
    const struct value *number = value_get(completion, name);
    if (!number || (number->kind == VALUE_NUMBER && number->number == 0))
        return otherwise;
    if (number->kind == VALUE_NULL || number->number < 0)
        return NEVER;
    if (number->number <= reading->role->count)
        return (int)number->number;
    struct value_path above = {.above = reading->path, .name = TEXT("completion")};
    struct value_path path = {.above = &above, .name = text_of(name)};
    struct arena *arena = reading->file->reading->arena;
    request_notes_add(arena, &reading->file->job->notes, openpai_v2_value_place(arena, &path),
                      "the role has only %d instances, so no number of them does it",
                      reading->role->count);
    return NEVER;
}

static void read_completion(struct role_reading *reading, struct completion *completion)
{
    *completion = (struct completion){
        .role = reading->role->role,
        .failed = completion_number(reading, "minFailedInstances", 1),
        .succeeded = completion_number(reading, "minSucceededInstances", reading->role->count),
    };
    if (completion->failed == NEVER && reading->role->count == 1)
        note_role(reading, "completion.minFailedInstances",
                  "the only task of this role may fail, and the job succeeds all the same");
}

/* ---- commands ---- */

static void add_command(struct role_reading *reading, const struct value_path *path,
                        const struct value *command)
{
    struct openpai_v2_text *script = &reading->script;
    openpai_v2_template_render(reading->file->reading, path, command, text_trim(command->string),
                               &reading->names, script);
    buffer_add_byte(&script->plain, '\n');
    buffer_add_byte(&script->masked, '\n');
}

static void add_commands(struct role_reading *reading, const struct value_path *above,
                         const struct value *map, const char *name)
{
    const struct value *commands = value_get(map, name);
    struct value_path path = {.above = above, .name = text_of(name)};
    for (size_t i = 0; commands && i < commands->list.count; i++) {
        struct value_path item = {.above = &path, .index = i};
        add_command(reading, &item, commands->list.items[i]);
    }
}

/* Add the commands that the chosen deployment has for this role. */
static void add_wrapping(struct role_reading *reading, struct text role, const char *name)
{
    const struct value *deployments = value_get(reading->file->root, "deployments");
    const struct value *roles = value_get(reading->file->deployment, "taskRoles");
    const struct member *wrap = value_member(roles, role);
    size_t index = 0;
    if (!wrap)
        return;
    while (deployments->list.items[index] != reading->file->deployment)
        index++;
    struct value_path list = {.name = TEXT("deployments")};
    struct value_path item = {.above = &list, .index = index};
    struct value_path task_roles = {.above = &item, .name = TEXT("taskRoles")};
    struct value_path path = {.above = &task_roles, .name = role};
    add_commands(reading, &path, wrap->value, name);
}

/* Join the commands of a role, and the deployment's before and after them, into one script, with
 * parameters and secrets substituted. */
static void read_commands(struct role_reading *reading)
{
    struct reading *problems = reading->file->reading;
    struct task_role *role = reading->role;
    struct openpai_v2_text *script = &reading->script;
    reading->names = (struct openpai_v2_names){
        .parameters = value_get(reading->file->root, "parameters"),
        .secrets = value_get(reading->file->root, "secrets"),
        .script = find_prerequisite(reading, "script", "script"),
        .output = find_prerequisite(reading, "output", "output"),
        .data = find_prerequisite(reading, "data", "data"),
        .budget = &reading->file->budget,
    };
    buffer_add_text(&script->plain, first_line);
    buffer_add_text(&script->masked, first_line);
    add_wrapping(reading, role->name, "preCommands");
    add_commands(reading, reading->path, reading->map, "commands");
    add_wrapping(reading, role->name, "postCommands");
    if (script->plain.length > SCRIPT_LONGEST ||
        memchr(script->plain.data, '\0', script->plain.length)) {
        const struct value *commands = value_get(reading->map, "commands");
        struct value_path path = {.above = reading->path, .name = TEXT("commands")};
        problems_add(
            problems, &path, commands->line, commands->column,
            "found %zu bytes%s, expected at most %d without NUL bytes", script->plain.length,
            script->plain.length > SCRIPT_LONGEST ? "" : " with a NUL byte", (int)SCRIPT_LONGEST);
    }
    role->script = arena_text(problems->arena, script->plain.data, script->plain.length);
    role->script_masked =
        script->secret ? arena_text(problems->arena, script->masked.data, script->masked.length)
                       : role->script;
    role->script_secret = script->secret;
    openpai_v2_template_free(script);
}

/* ---- what has no effect ---- */

static void say_ineffective(struct role_reading *reading)
{
    const struct value *options = value_get(reading->map, "extraContainerOptions");
    if (whole_number(reading->map, "taskRetryCount", 0) != 0)
        note_role(reading, "taskRetryCount",
                  "no effect here: a job is retried as a whole (jobRetryCount)");
    for (size_t i = 0; options && i < options->object.count; i++) {
        const struct member *member = &options->object.members[i];
        struct value_path above = {.above = reading->path, .name = TEXT("extraContainerOptions")};
        struct value_path path = {.above = &above, .name = member->key};
        struct arena *arena = reading->file->reading->arena;
        bool infiniband = text_is(member->key, "infiniband");
        bool no = member->value->kind == VALUE_BOOLEAN && !member->value->boolean;
        if (text_is(member->key, "shmMB") || (infiniband && no))
            continue;
        request_notes_add(
            arena, &reading->file->job->notes, openpai_v2_value_place(arena, &path), "%s",
            infiniband ? "no effect here: what tasks with GPUs get for talking to others is "
                         "the site's choice"
                       : "no effect here");
    }
}

void openpai_v2_roles_read(struct openpai_v2 *file)
{
    struct description *job = file->job;
    struct arena *arena = file->reading->arena;
    const struct value *roles = value_get(file->root, "taskRoles");
    size_t count = roles->object.count;
    struct role_names labels;
    struct value_path path = {.name = TEXT("taskRoles")};
    int64_t total = 0;

    roles_start(arena, &labels);
    job->tasks = arena_allocate(arena, count * sizeof(*job->tasks));
    job->tasks_count = count;
    job->complete = arena_allocate(arena, count * sizeof(*job->complete));
    job->complete_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &roles->object.members[i];
        struct value_path role = {.above = &path, .name = member->key};
        struct role_reading reading = {
            .file = file, .path = &role, .map = member->value, .role = &job->tasks[i]};
        job->tasks[i].role = roles_label(arena, &labels, member->key);
        job->tasks[i].name = member->key;
        read_resources(&reading);
        read_image_name(&reading);
        check_listed(&reading);
        read_completion(&reading, &job->complete[i]);
        read_commands(&reading);
        say_ineffective(&reading);
        total += job->tasks[i].count;
    }
    if (total > TASKS_MOST)
        problems_add(file->reading, &path, roles->line, roles->column,
                     "found %lld instances in all task roles, expected at most %d",
                     (long long)total, (int)TASKS_MOST);
    job->image = job->tasks[0].image;
    for (size_t i = 0; i < count; i++)
        if (text_equal(job->tasks[i].image, job->image))
            job->tasks[i].image = (struct text){NULL, 0};
}
