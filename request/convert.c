/* request/convert.c - write a job description as a native job file
 *
 * Known weakness: it converts what files of OpenPAI and DLWorkspace, and lines for Slurm and PBS, can
 * express; of fields that only native job files have those that #DL lines give beside #SBATCH lines
 * are noted, and others are lost.
 */
#include "request/convert.h"

#include <inttypes.h>
#include <string.h>

#include "base/ranges.h"
#include "request/after.h"
#include "request/notes.h"

enum { NAME_LONGEST = 63, RETRIES_MOST = 100 };

static void put_text(struct arena *arena, struct value *map, const char *key, struct text text)
{
    if (text.length)
        value_put(arena, map, key, value_text(arena, text));
}

static void put_bytes(struct arena *arena, struct value *map, const char *key, int64_t bytes)
{
    bool whole = bytes % (1 << 20) == 0;
    if (bytes)
        value_put(arena, map, key,
                  value_text(arena, arena_printf(arena, "%" PRId64 "%s", bytes >> (whole ? 20 : 10),
                                                 whole ? "Mi" : "Ki")));
}

static void put_environment(struct arena *arena, struct value *map,
                            const struct environment *environment)
{
    struct value *variables = value_object(arena);
    for (size_t i = 0; i < environment->count; i++)
        value_set(arena, variables, environment->variables[i].name,
                  value_text(arena, environment->variables[i].value));
    if (variables->object.count)
        value_put(arena, map, "env", variables);
}

/* Write a role's command; its own script becomes `bash -c SCRIPT`. */
static void put_command(struct arena *arena, struct value *map, const struct task_role *task)
{
    struct value *words = value_list(arena);
    if (task->script.length) {
        value_append(arena, words, value_string(arena, "bash"));
        value_append(arena, words, value_string(arena, "-c"));
        value_append(arena, words, value_text(arena, task->script));
    }
    for (size_t i = 0; i < task->command_count && !task->script.length; i++)
        value_append(arena, words, value_text(arena, task->command[i]));
    if (words->list.count)
        value_put(arena, map, "command", words);
}

static bool is_port_label(struct text label)
{
    for (size_t i = 0; i < label.length; i++)
        if (label.data[i] == '~')
            return false;
    return label.length > 0;
}

static void put_ports(struct arena *arena, struct value *map, const struct task_role *task,
                      struct notes *notes)
{
    struct value *ports = value_object(arena);
    for (size_t i = 0; i < task->ports_count; i++) {
        const struct port_request *port = &task->ports[i];
        if (port->first || !is_port_label(port->label))
            request_notes_add(
                arena, notes, "ports", "the ports %.*s of the role %.*s are left out: %s",
                (int)port->label.length, port->label.data, (int)task->role.length, task->role.data,
                port->first ? "dlspool chooses their numbers" : "no ports are called so here");
        else
            value_set(arena, ports, port->label, value_number(arena, port->count));
    }
    if (ports->object.count)
        value_put(arena, map, "ports", ports);
}

/* The fields of a role; that of a sweep has as many tasks as there are indexes. */
static struct value *role_tree(struct arena *arena, const struct task_role *task, bool sweep,
                               struct notes *notes)
{
    struct value *map = value_object(arena);
    if (!sweep)
        value_put(arena, map, "count", value_number(arena, task->count));
    value_put(arena, map, "cpus", value_number(arena, (double)task->cpus / 1000));
    put_bytes(arena, map, "memory", task->memory);
    put_bytes(arena, map, "shm", task->shm);
    if (task->gpus)
        value_put(arena, map, "gpus", value_number(arena, task->gpus));
    put_environment(arena, map, &task->environment);
    put_ports(arena, map, task, notes);
    put_command(arena, map, task);
    return map;
}

static void put_complete(struct arena *arena, struct value *map, const struct description *job)
{
    struct value *complete = value_object(arena);
    for (size_t i = 0; i < job->complete_count; i++) {
        const struct completion *entry = &job->complete[i];
        struct value *rule = value_object(arena);
        if (entry->failed)
            value_put(arena, rule, "failed", value_number(arena, entry->failed));
        if (entry->succeeded)
            value_put(arena, rule, "succeeded", value_number(arena, entry->succeeded));
        value_set(arena, complete, entry->role, rule);
    }
    if (complete->object.count)
        value_put(arena, map, "complete", complete);
}

static void put_retries(struct arena *arena, struct value *map, struct description *job)
{
    int retries = job->retries < 0 || job->retries > RETRIES_MOST ? RETRIES_MOST : job->retries;
    if (retries != job->retries)
        request_notes_add(arena, &job->notes, "retries", "%d here, the most that there are",
                          RETRIES_MOST);
    if (retries)
        value_put(arena, map, "retries", value_number(arena, retries));
}

/* What batch scripts have beside that */

static bool is_batch(const struct description *job)
{
    return text_is(job->platform.name, "sbatch") || text_is(job->platform.name, "pbs");
}

static void put_after(struct arena *arena, struct value *map, const struct description *job)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < job->after_count; i++) {
        const struct dependency *dependency = &job->after[i];
        bool alone = dependency->condition == AFTER_SINGLETON;
        value_append(arena, list,
                     value_text(arena, arena_printf(arena, "%s%s%.*s",
                                                    after_condition_name(dependency->condition),
                                                    alone ? "" : ":", (int)dependency->job.length,
                                                    alone ? "" : dependency->job.data)));
    }
    if (list->list.count)
        value_put(arena, map, "after", list);
}

/* The indexes, of which a lone one would be a number of tasks. */
static void put_array(struct arena *arena, struct value *map, const struct array *array)
{
    struct buffer out = {0};
    if (!array->count || array->choices_count)
        return;
    if (array->count == 1)
        buffer_printf(&out, "%d-%d", array->indexes[0], array->indexes[0]);
    else
        ranges_format(&out, array->indexes, array->count);
    if (array->at_once)
        buffer_printf(&out, "%%%d", array->at_once);
    value_put(arena, map, "array", value_text(arena, arena_take(arena, &out)));
}

static void put_signal(struct arena *arena, struct value *map, const struct limit_signal *signal)
{
    if (!signal->name.length)
        return;
    struct value *tree = value_object(arena);
    put_text(arena, tree, "name", signal->name);
    value_put(arena, tree, "before",
              value_text(arena, arena_printf(arena, "%" PRId64 "s", signal->before / 1000)));
    value_put(arena, map, "signal", tree);
}

static void put_batch(struct arena *arena, struct value *map, const struct description *job)
{
    if (job->platform.name.length && !is_batch(job))
        return;
    put_text(arena, map, "script", job->script);
    put_text(arena, map, "queue", job->queue);
    if (job->time_limit)
        value_put(arena, map, "time_limit",
                  value_text(arena, arena_printf(arena, "%" PRId64 "s", job->time_limit / 1000)));
    if (job->priority_class.length && !job->foreign)
        put_text(arena, map, "priority", job->priority_class);
    else if (job->priority)
        value_put(arena, map, "priority", value_number(arena, job->priority));
    if (job->hold)
        value_put(arena, map, "hold", value_boolean(arena, true));
    put_text(arena, map, "spread", job->spread);
    if (job->exclusive)
        value_put(arena, map, "exclusive", value_boolean(arena, true));
    put_text(arena, map, "begin", job->begin.written);
    put_signal(arena, map, &job->signal);
    put_after(arena, map, job);
    put_array(arena, map, &job->array);
}

static void put_messages(struct arena *arena, struct value *map,
                         const struct wanted_messages *messages)
{
    struct buffer words = {0};
    struct text events, rest, item;
    struct value *list = value_list(arena), *addresses = value_list(arena);
    if (!messages->events)
        return;
    message_events_format(messages->events, &words);
    events = buffer_text(&words);
    while (text_next(&events, ',', &item))
        value_append(arena, list, value_text(arena, arena_text(arena, item.data, item.length)));
    buffer_free(&words);
    for (rest = messages->mail; rest.length && text_next(&rest, ',', &item);)
        value_append(
            arena, addresses,
            value_text(arena, arena_text(arena, text_trim(item).data, text_trim(item).length)));
    if (addresses->list.count) {
        struct value *both = value_object(arena);
        value_put(arena, both, "events", list);
        value_put(arena, both, "mail", addresses);
        list = both;
    }
    value_put(arena, map, "notify", list);
}

/* Note what a batch script has and the job file does not say. */
static void note_batch(struct arena *arena, struct description *job)
{
    const struct {
        const char *field;
        bool given;
    } lost[] = {
        {"version", job->version.length > 0},
        {"args", job->args_count > 0},
        {"array", job->array.choices_count > 0},
        {"deadline", job->deadline.given},
        {"units", job->units.pattern.length || job->units.file.length},
        {"checkpoint", job->checkpoint.signal.length > 0},
        {"size", job->sizes.kind != SIZE_FIXED || job->size_max > 0},
        {"debug", job->debug > 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(lost); i++)
        if (lost[i].given)
            request_notes_add(arena, &job->notes, lost[i].field,
                              "left out: copy it from the #DL line of the script");
    for (size_t i = 0; i < job->platform.options_count; i++) {
        const struct platform_option *option = &job->platform.options[i];
        request_notes_add(arena, &job->notes, "queue",
                          "left out: name the queue that stands for %.*s %.*s",
                          (int)option->shown.length, option->shown.data, (int)option->value.length,
                          option->value.data);
    }
    request_notes_add(arena, &job->notes, "env",
                      "%s and others are not set: programs find DLSPOOL_OUTPUT, DLSPOOL_JOB_ID and "
                      "others (docs/libraries.md)",
                      text_is(job->platform.name, "pbs") ? "PBS_O_WORKDIR, PBS_JOBID"
                                                         : "SLURM_SUBMIT_DIR, SLURM_JOB_ID");
}

/* Note what the other system's site provided and a native job file must name itself. */
static void note_platform(struct arena *arena, struct description *job)
{
    const struct platform *platform = &job->platform;
    if (is_batch(job)) {
        note_batch(arena, job);
        return;
    }
    const struct {
        struct text place;
        const char *field;
    } places[] = {
        {platform->data, "dataset"}, {platform->output, "output"}, {platform->code, "program"}};
    for (size_t i = 0; i < ARRAY_COUNT(places); i++)
        if (places[i].place.length)
            request_notes_add(
                arena, &job->notes, places[i].field,
                "left out: %.*s is no directory here; name the directory that holds the same",
                (int)places[i].place.length, places[i].place.data);
    if (platform->cluster.length && !text_is(platform->cluster, "default"))
        request_notes_add(arena, &job->notes, "queue",
                          "left out: name the queue that stands for the virtual cluster %.*s",
                          (int)platform->cluster.length, platform->cluster.data);
    if (job->registries_count)
        request_notes_add(arena, &job->notes, "registries",
                          "left out: who may fetch images is the administrators' to say");
    if (platform->name.length && job->image.length)
        request_notes_add(
            arena, &job->notes, "image",
            "the site may refuse an image here that it takes from the other system's job files "
            "(images.allow_user in site.yaml); then leave it out, or ask an administrator");
    if (platform->name.length)
        request_notes_add(
            arena, &job->notes, "env",
            "variables of the other system, such as PAI_TASK_INDEX, are not set: programs find "
            "DLSPOOL_INDEX and others (docs/libraries.md)");
}

static bool is_of_name(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* The name with hyphens in place of bytes that a native name cannot have. */
static struct text own_name(struct arena *arena, struct text name)
{
    struct buffer out = {0};
    for (size_t i = 0; i < name.length && out.length < NAME_LONGEST; i++) {
        char byte = name.data[i];
        if (is_of_name(byte) || (out.length && strchr("._-", byte)))
            buffer_add_byte(&out, byte);
        else if (out.length && out.data[out.length - 1] != '-')
            buffer_add_byte(&out, '-');
    }
    struct text own = arena_text(arena, out.length ? out.data : "", out.length);
    buffer_free(&out);
    return own;
}

static void put_name(struct arena *arena, struct value *map, struct description *job)
{
    struct text name = own_name(arena, job->name);
    put_text(arena, map, "name", name);
    if (name.length && !text_equal(name, job->name))
        request_notes_add(arena, &job->notes, "name",
                          "%.*s here, as a name is letters, digits, and . _ -", (int)name.length,
                          name.data);
}

struct value *convert_description(struct arena *arena, struct description *job)
{
    struct value *map = value_object(arena), *tasks = value_object(arena);
    put_name(arena, map, job);
    put_text(arena, map, "library", job->library);
    put_text(arena, map, "type", job->type);
    put_text(arena, map, "image", job->image);
    put_text(arena, map, "gpu_type", job->gpu_type);
    put_text(arena, map, "program", job->program);
    put_text(arena, map, "dataset", job->dataset);
    put_text(arena, map, "output", job->output);
    put_retries(arena, map, job);
    put_batch(arena, map, job);
    put_messages(arena, map, &job->messages);
    put_environment(arena, map, &job->environment);
    put_complete(arena, map, job);
    for (size_t i = 0; i < job->tasks_count; i++) {
        if (job->tasks[i].image.length && !text_equal(job->tasks[i].image, job->image))
            request_notes_add(
                arena, &job->notes, "image",
                "the image %.*s of the role %.*s is left out: a job has one image here",
                (int)job->tasks[i].image.length, job->tasks[i].image.data,
                (int)job->tasks[i].role.length, job->tasks[i].role.data);
        value_set(arena, tasks, job->tasks[i].role,
                  role_tree(arena, &job->tasks[i], text_is(job->type, "array"), &job->notes));
    }
    value_put(arena, map, "tasks", tasks);
    note_platform(arena, job);
    return map;
}
