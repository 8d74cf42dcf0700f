/* renderer/context.c - what a template can read: the context of every rendering */
#include "renderer/context.h"

#include <math.h>
#include <stdlib.h>

#include "base/sha256.h"

int context_port(struct text id)
{
    const struct port_range *range = &port_range_usual;
    char hex[SHA256_HEX_SIZE];
    sha256_hex(id, hex);
    hex[8] = '\0';
    unsigned long size = (unsigned long)(range->last - range->first + 1);
    return range->first + (int)(strtoul(hex, NULL, 16) % size);
}

/* Make a tree part of another without copying: trees are immutable once built. */
static struct value *share_value(const struct value *value)
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

static struct value *overlay_objects(struct arena *arena, struct value *below, struct value *above)
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
    struct value *role, *count, *cpus, *cpus_most, *memory, *shm, *gpus, *command, *env, *name;
    struct value *storage, *image, *script, *secret;
};

static struct role_values role_values(struct arena *arena, const struct context_role *role,
                                      struct value *job_env)
{
    return (struct role_values){
        .role = value_text(arena, role->role),
        .count = value_number(arena, role->count),
        .cpus = value_number(arena, (double)role->cpus / 1000),
        .cpus_most = number_or_null(arena, (double)role->cpus_most / 1000),
        .memory = value_number(arena, (double)role->memory),
        .shm = number_or_null(arena, (double)role->shm),
        .gpus = value_number(arena, role->gpus),
        .command = role->command_count ? word_list(arena, role->command, role->command_count)
                                       : value_null(arena),
        .env = overlay_objects(arena, job_env, role->env),
        .name = value_text(arena, role->name.length ? role->name : role->role),
        .storage = number_or_null(arena, (double)role->storage),
        .image = text_or_null(arena, role->image),
        .script = text_or_null(arena, role->script),
        .secret = value_boolean(arena, role->secret),
    };
}

static struct value *role_object(struct arena *arena, const struct role_values *values)
{
    struct value *object = value_object(arena);
    value_put(arena, object, "role", values->role);
    value_put(arena, object, "count", values->count);
    value_put(arena, object, "cpus", values->cpus);
    value_put(arena, object, "cpus_most", values->cpus_most);
    value_put(arena, object, "memory", values->memory);
    value_put(arena, object, "shm", values->shm);
    value_put(arena, object, "gpus", values->gpus);
    value_put(arena, object, "command", values->command);
    value_put(arena, object, "env", values->env);
    value_put(arena, object, "name", values->name);
    value_put(arena, object, "storage", values->storage);
    value_put(arena, object, "image", values->image);
    value_put(arena, object, "script", values->script);
    value_put(arena, object, "secret", values->secret);
    return object;
}

/* Reserve all fixed ports first, so that no chosen port collides with them. */
static void reserve_ports(struct port_book *book, const struct context_job *job)
{
    int tasks = 0;
    for (size_t i = 0; i < job->roles_count; i++) {
        const struct context_role *role = &job->roles[i];
        tasks += role->count;
        for (size_t j = 0; j < role->ports_count; j++)
            if (role->ports[j].first)
                ports_reserve(book, role->ports[j].first, role->ports[j].count);
    }
    ports_reserve(book, context_port(job->id), tasks);
}

/* {label: [numbers]} of one task. */
static struct value *task_ports(struct arena *arena, struct port_book *book,
                                const struct context_role *role, int index)
{
    struct value *object = value_object(arena);
    for (size_t i = 0; i < role->ports_count; i++) {
        const struct port_request *port = &role->ports[i];
        struct value *numbers = value_list(arena);
        for (int number = 0; number < port->count; number++)
            value_append(arena, numbers,
                         value_number(arena, port->first ? port->first + number
                                                         : ports_choose(book, role->role, index,
                                                                        port->label, number)));
        value_set(arena, object, port->label, numbers);
    }
    return object;
}

static struct value *choice_list(struct arena *arena, const struct array *array)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < array->choices_count; i++) {
        const struct array_choice *choice = &array->choices[i];
        struct value *object = value_object(arena);
        value_put(arena, object, "name", value_text(arena, choice->name));
        value_put(arena, object, "values", word_list(arena, choice->values, choice->count));
        value_put(arena, object, "stride", value_number(arena, (double)choice->stride));
        value_append(arena, list, object);
    }
    return list;
}

static struct value *array_object(struct arena *arena, const struct array *array)
{
    if (!array->count)
        return value_null(arena);
    struct value *object = value_object(arena), *indexes = value_list(arena);
    size_t at_once = array->at_once ? (size_t)array->at_once : array->count;
    for (size_t i = 0; i < array->count; i++)
        value_append(arena, indexes, value_number(arena, array->indexes[i]));
    value_put(arena, object, "count", value_number(arena, (double)array->count));
    value_put(arena, object, "total",
              value_number(arena, (double)(array->total ? array->total : array->count)));
    value_put(arena, object, "least",
              value_number(arena, array->total ? array->least : array->indexes[0]));
    value_put(
        arena, object, "greatest",
        value_number(arena, array->total ? array->greatest : array->indexes[array->count - 1]));
    value_put(arena, object, "at_once",
              value_number(arena, (double)(at_once < array->count ? at_once : array->count)));
    value_put(arena, object, "indexes", indexes);
    /* They ascend, so the last one tells. */
    value_put(arena, object, "contiguous",
              value_boolean(arena, (size_t)array->indexes[array->count - 1] == array->count - 1));
    value_put(arena, object, "choices", choice_list(arena, array));
    return object;
}

/* The `array` object of one task of a sweep. */
static struct value *task_array(struct arena *arena, const struct array *array, int rank)
{
    if ((size_t)rank >= array->count)
        return value_null(arena);
    struct value *object = value_object(arena), *values = value_object(arena);
    size_t index = (size_t)array->indexes[rank];
    for (size_t i = 0; i < array->choices_count; i++) {
        const struct array_choice *choice = &array->choices[i];
        value_set(arena, values, choice->name,
                  value_text(arena, choice->values[index / choice->stride % choice->count]));
    }
    value_put(arena, object, "index", value_number(arena, array->indexes[rank]));
    value_put(arena, object, "values", values);
    return object;
}

static struct value *checkpoint_object(struct arena *arena, const struct context_job *job)
{
    if (!job->checkpoint_signal.length)
        return value_null(arena);
    struct value *object = value_object(arena);
    value_put(arena, object, "signal", value_text(arena, job->checkpoint_signal));
    value_put(arena, object, "grace",
              value_number(arena, ceil((double)job->checkpoint_grace / 1000)));
    return object;
}

static struct value *signal_object(struct arena *arena, const struct context_job *job)
{
    int64_t at = job->time_limit - job->signal_before;
    if (!job->signal_name.length || !job->time_limit)
        return value_null(arena);
    struct value *object = value_object(arena);
    value_put(arena, object, "name", value_text(arena, job->signal_name));
    value_put(arena, object, "at", value_number(arena, at > 0 ? floor((double)at / 1000) : 0));
    return object;
}

static struct value *size_object(struct arena *arena, const struct context_job *job)
{
    if (!job->size_max)
        return value_null(arena);
    struct value *object = value_object(arena);
    value_put(arena, object, "min", value_number(arena, job->size_min));
    value_put(arena, object, "max", value_number(arena, job->size_max));
    return object;
}

/* Put the roles, the tasks and the number of tasks into the context; a task's rank counts over
 * all roles in their order. */
static void add_roles(struct arena *arena, struct value *object, const struct context_job *job,
                      struct value *job_env)
{
    struct value *tasks = value_list(arena), *roles = value_list(arena);
    struct port_book book;
    ports_start(&book, job->port_range.first ? job->port_range : port_range_usual,
                value_get_text(object, "token"));
    reserve_ports(&book, job);
    int rank = 0;
    for (size_t i = 0; i < job->roles_count; i++) {
        struct role_values values = role_values(arena, &job->roles[i], job_env);
        struct value *role = role_object(arena, &values);
        struct value *role_ports = value_list(arena);
        value_put(arena, role, "first", value_number(arena, rank));
        value_put(arena, role, "ports", role_ports);
        value_append(arena, roles, role);
        for (int index = 0; index < job->roles[i].count; index++, rank++) {
            struct value *task = role_object(arena, &values);
            value_put(arena, task, "index", value_number(arena, index));
            value_put(arena, task, "rank", value_number(arena, rank));
            struct value *ports = task_ports(arena, &book, &job->roles[i], index);
            value_put(arena, task, "ports", ports);
            value_put(arena, task, "array", task_array(arena, &job->array, rank));
            value_append(arena, role_ports, ports);
            value_append(arena, tasks, task);
        }
    }
    value_put(arena, object, "task_count", value_number(arena, rank));
    value_put(arena, object, "tasks", tasks);
    value_put(arena, object, "roles", roles);
}

static struct value *platform_object(struct arena *arena, const struct context_platform *platform)
{
    if (!platform->name.length)
        return value_null(arena);
    struct value *object = value_object(arena);
    struct text code_name = platform->code, part;
    for (struct text rest = platform->code; text_next(&rest, '/', &part);)
        if (part.length)
            code_name = part;
    value_put(arena, object, "name", value_text(arena, platform->name));
    value_put(arena, object, "cluster",
              platform->cluster.length ? value_text(arena, platform->cluster)
                                       : value_string(arena, "default"));
    value_put(arena, object, "data", value_text(arena, platform->data));
    value_put(arena, object, "output", value_text(arena, platform->output));
    value_put(arena, object, "code", value_text(arena, platform->code));
    value_put(arena, object, "code_name", value_text(arena, code_name));
    value_put(arena, object, "debug", value_number(arena, (double)platform->debug));
    return object;
}

static struct value *registry_list(struct arena *arena, const struct context_job *job)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < job->registries_count; i++) {
        struct value *object = value_object(arena);
        value_put(arena, object, "server", value_text(arena, job->registries[i].server));
        value_put(arena, object, "user", value_text(arena, job->registries[i].user));
        value_put(arena, object, "password", value_text(arena, job->registries[i].password));
        value_append(arena, list, object);
    }
    return list;
}

struct value *context_job(struct arena *arena, const struct context_job *job)
{
    struct value *object = value_object(arena);
    struct value *env = job->env ? job->env : value_object(arena);
    int attempt = job->attempt > 0 ? job->attempt : 1;
    value_put(arena, object, "id", value_text(arena, job->id));
    value_put(arena, object, "attempt", value_number(arena, attempt));
    value_put(arena, object, "token",
              value_text(arena, arena_printf(arena, "%.*s-a%d", (int)job->id.length, job->id.data,
                                             attempt)));
    value_put(arena, object, "name", value_text(arena, job->name));
    value_put(arena, object, "owner", value_text(arena, job->owner));
    value_put(arena, object, "home", text_or_null(arena, job->home));
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
    value_put(arena, object, "features", word_list(arena, job->features, job->features_count));
    value_put(arena, object, "spread", text_or_null(arena, job->spread));
    value_put(arena, object, "exclusive", value_boolean(arena, job->exclusive));
    value_put(arena, object, "host_network", value_boolean(arena, job->host_network));
    value_put(arena, object, "priority", value_number(arena, job->priority));
    value_put(arena, object, "time_limit", number_or_null(arena, (double)job->time_limit / 1000));
    value_put(arena, object, "checkpoint", checkpoint_object(arena, job));
    value_put(arena, object, "signal", signal_object(arena, job));
    value_put(arena, object, "queue", text_or_null(arena, job->queue));
    value_put(arena, object, "debug", number_or_null(arena, ceil((double)job->debug / 1000)));
    value_put(arena, object, "complete", job->complete ? job->complete : value_null(arena));
    value_put(arena, object, "array", array_object(arena, &job->array));
    value_put(arena, object, "size", size_object(arena, job));
    value_put(arena, object, "port", value_number(arena, context_port(job->id)));
    add_roles(arena, object, job, env);
    value_put(arena, object, "pull_secrets",
              word_list(arena, job->pull_secrets, job->pull_secrets_count));
    value_put(arena, object, "registries", registry_list(arena, job));
    value_put(arena, object, "platform", platform_object(arena, &job->platform));
    return object;
}

struct value *context_build(struct arena *arena, const struct value *job, struct text image,
                            const struct value *site)
{
    struct value *context = value_object(arena);
    value_put(arena, context, "job", share_value(job));
    value_put(arena, context, "image", value_text(arena, image));
    value_put(arena, context, "site", share_value(site));
    return context;
}
