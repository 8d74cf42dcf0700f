/* renderer/context.c - what a template can read: the context of every rendering */
#include "renderer/context.h"

#include <stdlib.h>

#include "base/sha256.h"

/* Above the ports that services are known by, below those that Linux gives out by itself. */
enum { FIRST_PORT = 15000, PORT_COUNT = 17000 };

int context_port(struct text id)
{
    char hex[SHA256_HEX_SIZE];
    sha256_hex(id, hex);
    hex[8] = '\0';
    return FIRST_PORT + (int)(strtoul(hex, NULL, 16) % PORT_COUNT);
}

/* A tree that is only read may be part of another: trees are immutable once built. */
static struct value *shared(const struct value *value)
{
    return (struct value *)(uintptr_t)value;
}

static struct value *text_or_null(struct arena *arena, struct text text)
{
    return text.length ? value_text(arena, text) : value_null(arena);
}

static struct value *number_or_null(struct arena *arena, double number)
{
    return number > 0 ? value_number(arena, number) : value_null(arena);
}

static struct value *word_list(struct arena *arena, const struct text *words, size_t count)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < count; i++)
        value_append(arena, list, value_text(arena, words[i]));
    return list;
}

static struct value *overlaid(struct arena *arena, struct value *below, struct value *above)
{
    if (!above || above->object.count == 0)
        return below;
    if (below->object.count == 0)
        return above;
    struct value *result = value_object(arena);
    for (size_t i = 0; i < below->object.count; i++)
        value_set(arena, result, below->object.members[i].key, below->object.members[i].value);
    for (size_t i = 0; i < above->object.count; i++)
        value_set(arena, result, above->object.members[i].key, above->object.members[i].value);
    return result;
}

/* What all tasks of a role have in common.  The values are built once and shared. */
struct role_values {
    struct value *role, *count, *cpus, *memory, *shm, *gpus, *command, *env;
};

static struct role_values role_values(struct arena *arena, const struct context_role *role,
                                      struct value *job_env)
{
    return (struct role_values){
        .role = value_text(arena, role->role),
        .count = value_number(arena, role->count),
        .cpus = value_number(arena, (double)role->cpus / 1000),
        .memory = value_number(arena, (double)role->memory),
        .shm = number_or_null(arena, (double)role->shm),
        .gpus = value_number(arena, role->gpus),
        .command = role->command_count ? word_list(arena, role->command, role->command_count)
                                       : value_null(arena),
        .env = overlaid(arena, job_env, role->env),
    };
}

static struct value *role_object(struct arena *arena, const struct role_values *values)
{
    struct value *object = value_object(arena);
    value_put(arena, object, "role", values->role);
    value_put(arena, object, "count", values->count);
    value_put(arena, object, "cpus", values->cpus);
    value_put(arena, object, "memory", values->memory);
    value_put(arena, object, "shm", values->shm);
    value_put(arena, object, "gpus", values->gpus);
    value_put(arena, object, "command", values->command);
    value_put(arena, object, "env", values->env);
    return object;
}

static void add_roles(struct arena *arena, struct value *object, const struct context_job *job,
                      struct value *job_env)
{
    struct value *tasks = value_list(arena), *roles = value_list(arena);
    int rank = 0;
    for (size_t i = 0; i < job->roles_count; i++) {
        struct role_values values = role_values(arena, &job->roles[i], job_env);
        struct value *role = role_object(arena, &values);
        value_put(arena, role, "first", value_number(arena, rank));
        value_append(arena, roles, role);
        for (int index = 0; index < job->roles[i].count; index++, rank++) {
            struct value *task = role_object(arena, &values);
            value_put(arena, task, "index", value_number(arena, index));
            value_put(arena, task, "rank", value_number(arena, rank));
            value_append(arena, tasks, task);
        }
    }
    value_put(arena, object, "task_count", value_number(arena, rank));
    value_put(arena, object, "tasks", tasks);
    value_put(arena, object, "roles", roles);
}

struct value *context_job(struct arena *arena, const struct context_job *job)
{
    struct value *object = value_object(arena);
    struct value *env = job->env ? job->env : value_object(arena);
    value_put(arena, object, "id", value_text(arena, job->id));
    value_put(arena, object, "name", value_text(arena, job->name));
    value_put(arena, object, "owner", value_text(arena, job->owner));
    value_put(arena, object, "uid", value_number(arena, job->uid));
    value_put(arena, object, "gid", value_number(arena, job->gid));
    value_put(arena, object, "library", value_text(arena, job->library));
    value_put(arena, object, "version", value_text(arena, job->version));
    value_put(arena, object, "type", value_text(arena, job->type));
    value_put(arena, object, "program", text_or_null(arena, job->program));
    value_put(arena, object, "entry", text_or_null(arena, job->entry));
    value_put(arena, object, "args", word_list(arena, job->args, job->args_count));
    value_put(arena, object, "script", text_or_null(arena, job->script));
    value_put(arena, object, "dataset", text_or_null(arena, job->dataset));
    value_put(arena, object, "output", text_or_null(arena, job->output));
    value_put(arena, object, "env", env);
    value_put(arena, object, "gpu_type", text_or_null(arena, job->gpu_type));
    value_put(arena, object, "priority", value_number(arena, job->priority));
    value_put(arena, object, "time_limit", number_or_null(arena, (double)job->time_limit / 1000));
    value_put(arena, object, "port", value_number(arena, context_port(job->id)));
    add_roles(arena, object, job, env);
    return object;
}

struct value *context_build(struct arena *arena, const struct value *job, struct text image,
                            const struct value *site)
{
    struct value *context = value_object(arena);
    value_put(arena, context, "job", shared(job));
    value_put(arena, context, "image", value_text(arena, image));
    value_put(arena, context, "site", shared(site));
    return context;
}
