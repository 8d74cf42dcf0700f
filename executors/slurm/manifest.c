/* executors/slurm/manifest.c - what a template sends to the Slurm executor */
#include "executors/slurm/manifest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/yaml.h"
#include "executors/manifest_fields.h"

enum {
    TASKS_MAX = 100000,   /* of a job */
    COMPONENTS_MAX = 128, /* slurm.h: MAX_HET_JOB_COMPS */
    CPUS_MAX = 65533,     /* cpus_per_task has 16 bits, and some values are reserved */
    GPUS_MAX = 1024,
    MINUTES_MAX = 1 << 24,
    SCRIPT_MAX = 4194303, /* slurm.conf: max_script_size, with the final NUL */
    GPU_TYPE_MAX = 63,
    TEXT_MAX_BYTES = 1024
};

/* nice: slurm.h's NICE_OFFSET is 2^31, and values near it are kept. */
#define NICE_MAX 2147483644

const struct slurm_property_rule slurm_properties[] = {
    {"account", SLURM_TEXT, 0, 0, true},
    {"burst_buffer", SLURM_TEXT, 0, 0, true},
    {"constraints", SLURM_TEXT, 0, 0, true},
    {"core_specification", SLURM_WHOLE, 0, 32767, true},
    {"deadline", SLURM_TEXT, 0, 0, false},
    {"delay_boot", SLURM_WHOLE, 0, MINUTES_MAX, false},
    {"dependency", SLURM_TEXT, 0, 0, false},
    {"distribution", SLURM_TEXT, 0, 0, true},
    {"exclusive", SLURM_BOOLEAN, 0, 0, true},
    {"gres", SLURM_TEXT, 0, 0, true},
    {"gres_flags", SLURM_TEXT, 0, 0, true},
    {"licenses", SLURM_TEXT, 0, 0, true},
    {"mcs_label", SLURM_TEXT, 0, 0, false},
    {"nice", SLURM_WHOLE, -NICE_MAX, NICE_MAX, false},
    {"partition", SLURM_TEXT, 0, 0, true},
    {"qos", SLURM_TEXT, 0, 0, true},
    {"requeue", SLURM_BOOLEAN, 0, 0, false},
    {"reservation", SLURM_TEXT, 0, 0, true},
    {"spread_job", SLURM_BOOLEAN, 0, 0, true},
    {"tasks_per_node", SLURM_WHOLE, 1, 32767, true},
    {"thread_specification", SLURM_WHOLE, 0, 32767, true},
    {"threads_per_core", SLURM_WHOLE, 1, 32767, true},
    {"time_limit", SLURM_WHOLE, 1, MINUTES_MAX, false},
    {"time_minimum", SLURM_WHOLE, 1, MINUTES_MAX, false},
    {"wckey", SLURM_TEXT, 0, 0, false},
    {NULL, SLURM_TEXT, 0, 0, false},
};

/* ---- properties ---- */

static bool has_control_byte(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
            return true;
    return false;
}

static int check_property(struct manifest_reading *reading, const struct value_path *place,
                          const struct slurm_property_rule *rule, const struct value *value)
{
    char what[128];
    switch (rule->kind) {
    case SLURM_TEXT:
        if (manifest_fields_is_plain(value) && value->string.length > 0 &&
            value->string.length <= TEXT_MAX_BYTES && !has_control_byte(value->string))
            return 0;
        snprintf(what, sizeof(what), "a text of 1 to %d bytes in one line", TEXT_MAX_BYTES);
        break;
    case SLURM_WHOLE:
        if (value->kind == VALUE_NUMBER && floor(value->number) == value->number &&
            value->number >= (double)rule->least && value->number <= (double)rule->most)
            return 0;
        snprintf(what, sizeof(what), "a whole number from %lld to %lld", (long long)rule->least,
                 (long long)rule->most);
        break;
    case SLURM_BOOLEAN:
        if (value->kind == VALUE_BOOLEAN)
            return 0;
        snprintf(what, sizeof(what), "true or false");
        break;
    }
    return manifest_fields_expected(reading, place, value, what);
}

/* A name that is none of those that may stand here. */
static int unknown_property(struct manifest_reading *reading, const struct value_path *parent,
                            const struct member *member, bool component)
{
    const char *names[ARRAY_COUNT(slurm_properties)];
    struct value_path place = {.above = parent, .name = member->key};
    char what[256];
    size_t count = 0;
    for (const struct slurm_property_rule *rule = slurm_properties; rule->name; rule++) {
        if (text_is(member->key, rule->name)) {
            snprintf(what, sizeof(what), "%s to be said of the whole job only", rule->name);
            return manifest_fields_expected(reading, &place, member->value, what);
        }
        if (rule->component || !component)
            names[count++] = rule->name;
    }
    names[count] = NULL;
    struct nearest_hint hint;
    snprintf(what, sizeof(what), "the name of a property that a manifest may set%s",
             nearest_hint(&hint, member->key, names));
    return manifest_fields_expected(reading, &place, member->value, what);
}

static int read_property_list(struct manifest_reading *reading, const struct value_path *place,
                              const struct value *value, bool component,
                              struct slurm_property_list *list)
{
    if (value->kind != VALUE_OBJECT)
        return manifest_fields_expected(reading, place, value, "an object of properties");
    list->items = arena_allocate(reading->arena, (value->object.count + 1) * sizeof(*list->items));
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        const struct slurm_property_rule *rule = slurm_properties;
        while (rule->name && (!text_is(member->key, rule->name) || (component && !rule->component)))
            rule++;
        if (!rule->name)
            return unknown_property(reading, place, member, component);
        struct value_path inner = {.above = place, .name = text_of(rule->name)};
        if (check_property(reading, &inner, rule, member->value))
            return -1;
        list->items[list->count++] = (struct slurm_property){rule, member->value};
    }
    return 0;
}

static int read_job(struct manifest_reading *reading, const struct value_path *place,
                    struct value *value, void *target)
{
    return read_property_list(reading, place, value, false, target);
}

static int read_properties(struct manifest_reading *reading, const struct value_path *place,
                           struct value *value, void *target)
{
    return read_property_list(reading, place, value, true, target);
}

const struct value *slurm_manifest_property(const struct slurm_property_list *list,
                                            const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].rule->name, name) == 0)
            return list->items[i].value;
    return NULL;
}

bool slurm_manifest_may_requeue(const struct slurm_manifest *manifest)
{
    const struct value *requeue = slurm_manifest_property(&manifest->job, "requeue");
    return requeue && requeue->boolean;
}

/* ---- leaves ---- */

static int read_from_one(struct manifest_reading *reading, const struct value_path *place,
                         struct value *value, int most, void *target)
{
    char what[64];
    snprintf(what, sizeof(what), "a whole number from 1 to %d", most);
    if (value->kind == VALUE_NUMBER && value->number < 1)
        return manifest_fields_expected(reading, place, value, what);
    return manifest_fields_read_count(reading, place, value, most, what, target);
}

static int read_count(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    return read_from_one(reading, place, value, TASKS_MAX, target);
}

static int read_cpus(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    return read_from_one(reading, place, value, CPUS_MAX, target);
}

static int read_gpus(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    return manifest_fields_read_count(reading, place, value, GPUS_MAX,
                                      "a whole number from 0 to 1024", target);
}

/* It becomes a part of gpu:TYPE:COUNT. */
static int read_gpu_type(struct manifest_reading *reading, const struct value_path *place,
                         struct value *value, void *target)
{
    static const char what[] = "a name of at most 63 letters, digits and inner . _ - characters";
    if (value->kind != VALUE_STRING || value->string.length == 0 ||
        value->string.length > GPU_TYPE_MAX)
        return manifest_fields_expected(reading, place, value, what);
    for (size_t i = 0; i < value->string.length; i++) {
        char byte = value->string.data[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9');
        bool inner = i > 0 && (byte == '.' || byte == '_' || byte == '-');
        if (!plain && !inner)
            return manifest_fields_expected(reading, place, value, what);
    }
    *(struct text *)target = value->string;
    return 0;
}

static int read_script(struct manifest_reading *reading, const struct value_path *place,
                       struct value *value, void *target)
{
    if (!manifest_fields_is_plain(value) || !text_starts(value->string, "#!") ||
        value->string.length > SCRIPT_MAX)
        return manifest_fields_expected(
            reading, place, value,
            "a text that starts with #!, of at most 4194303 bytes without NUL");
    *(struct text *)target = value->string;
    return 0;
}

/* ---- objects ---- */

static const struct manifest_field array_fields[] = {
    {"count", true, read_count, offsetof(struct slurm_manifest, array_count)},
    {"at_once", false, read_count, offsetof(struct slurm_manifest, array_at_once)},
    {NULL, false, NULL, 0},
};

static int read_array(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    return manifest_fields_read(reading, place, value, array_fields, target);
}

static const struct manifest_field component_fields[] = {
    {"tasks", true, read_count, offsetof(struct slurm_component, tasks)},
    {"cpus_per_task", true, read_cpus, offsetof(struct slurm_component, cpus_per_task)},
    {"memory_per_task", true, manifest_fields_read_bytes,
     offsetof(struct slurm_component, memory_per_task)},
    {"gpus_per_task", false, read_gpus, offsetof(struct slurm_component, gpus_per_task)},
    {"gpu_type", false, read_gpu_type, offsetof(struct slurm_component, gpu_type)},
    {"nodes", false, read_count, offsetof(struct slurm_component, nodes)},
    {"properties", false, read_properties, offsetof(struct slurm_component, properties)},
    {NULL, false, NULL, 0},
};

static int read_components(struct manifest_reading *reading, const struct value_path *place,
                           struct value *value, void *target)
{
    struct slurm_manifest *manifest = target;
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > COMPONENTS_MAX)
        return manifest_fields_expected(reading, place, value, "a list of 1 to 128 components");
    manifest->components =
        arena_allocate(reading->arena, value->list.count * sizeof(*manifest->components));
    for (size_t i = 0; i < value->list.count; i++) {
        struct slurm_component *component = &manifest->components[i];
        struct value *item = value->list.items[i];
        struct value_path inner = {.above = place, .index = i};
        if (manifest_fields_read(reading, &inner, item, component_fields, component))
            return -1;
        if (component->gpu_type.length && !component->gpus_per_task)
            return manifest_fields_expected(reading, &inner, item, "gpus_per_task beside gpu_type");
        if (component->nodes > component->tasks)
            return manifest_fields_expected(reading, &inner, item, "nodes to be at most tasks");
    }
    manifest->component_count = value->list.count;
    return 0;
}

static const struct manifest_field tasks_fields[] = {
    {"role", true, manifest_fields_read_role, offsetof(struct slurm_tasks, role)},
    {"count", true, read_count, offsetof(struct slurm_tasks, count)},
    {"beside", false, manifest_fields_read_boolean, offsetof(struct slurm_tasks, beside)},
    {NULL, false, NULL, 0},
};

static int read_tasks(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    struct slurm_manifest *manifest = target;
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > COMPONENTS_MAX)
        return manifest_fields_expected(reading, place, value, "a list of 1 to 128 roles");
    manifest->tasks = arena_allocate(reading->arena, value->list.count * sizeof(*manifest->tasks));
    for (size_t i = 0; i < value->list.count; i++) {
        struct slurm_tasks *tasks = &manifest->tasks[i];
        struct value *item = value->list.items[i];
        struct value_path inner = {.above = place, .index = i};
        if (manifest_fields_read(reading, &inner, item, tasks_fields, tasks))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (text_equal(manifest->tasks[j].role, tasks->role))
                return manifest_fields_expected(reading, &inner, item,
                                                "a role that none before it has");
        manifest->task_total += tasks->count;
        if (manifest->task_total > TASKS_MAX)
            return manifest_fields_expected(reading, &inner, item, "at most 100000 tasks in all");
    }
    manifest->tasks_count = value->list.count;
    return 0;
}

static int read_kind(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    (void)target;
    if (value->kind != VALUE_STRING || !text_is(value->string, "dlspool/slurm/v1"))
        return manifest_fields_expected(reading, place, value, "dlspool/slurm/v1");
    return 0;
}

static const struct manifest_field manifest_fields[] = {
    {"kind", true, read_kind, 0},
    {"job", false, read_job, offsetof(struct slurm_manifest, job)},
    {"array", false, read_array, 0},
    {"components", true, read_components, 0},
    {"tasks", true, read_tasks, 0},
    {"complete", false, manifest_fields_read_complete, offsetof(struct slurm_manifest, complete)},
    {"environment", false, manifest_fields_read_environment,
     offsetof(struct slurm_manifest, environment)},
    {"listens", false, manifest_fields_read_boolean, offsetof(struct slurm_manifest, listens)},
    {"script", true, read_script, offsetof(struct slurm_manifest, script)},
    {NULL, false, NULL, 0},
};

/* ---- what the parts say of one another ---- */

/* Every task has its place in a component, and every place its task. */
static int check_places(struct manifest_reading *reading, const struct value *document,
                        const struct slurm_manifest *manifest)
{
    struct value_path place = {.name = TEXT("components")};
    const struct value *components = value_get(document, "components");
    int placed = 0, wanted = 0;
    char what[96];
    for (size_t i = 0; i < manifest->component_count; i++) {
        if (manifest->components[i].tasks > TASKS_MAX - placed)
            return manifest_fields_expected(reading, &place, components,
                                            "at most 100000 tasks in all");
        placed += manifest->components[i].tasks;
    }
    for (size_t i = 0; i < manifest->tasks_count; i++)
        wanted += manifest->tasks[i].beside ? 0 : manifest->tasks[i].count;
    if (manifest->array_count) {
        if (placed != 1)
            return manifest_fields_expected(reading, &place, components,
                                            "one component of one task, as there is an array");
        place.name = TEXT("tasks");
        if (manifest->tasks_count == 1 && wanted == manifest->array_count)
            return 0;
        snprintf(what, sizeof(what), "one role of %d tasks, as many as the array has",
                 manifest->array_count);
        return manifest_fields_expected(reading, &place, value_get(document, "tasks"), what);
    }
    if (placed == wanted)
        return 0;
    snprintf(what, sizeof(what), "components of %d tasks in all, as many as the roles have",
             wanted);
    return manifest_fields_expected(reading, &place, components, what);
}

struct slurm_manifest *slurm_manifest_of(struct arena *arena, struct value *document,
                                         struct error *error)
{
    struct manifest_reading reading = {.arena = arena, .error = error};
    struct slurm_manifest *manifest = arena_allocate(arena, sizeof(*manifest));
    if (manifest_fields_read(&reading, NULL, document, manifest_fields, manifest) ||
        manifest_fields_check_complete(&reading, manifest->complete, &manifest->tasks->role,
                                       manifest->tasks_count, sizeof(*manifest->tasks)) ||
        check_places(&reading, document, manifest))
        return NULL;
    return manifest;
}

struct slurm_manifest *slurm_manifest_read(struct arena *arena, struct text source,
                                           struct error *error)
{
    struct value *document = yaml_read(arena, source, "manifest.yaml", &yaml_trusted_limits, error);
    return document ? slurm_manifest_of(arena, document, error) : NULL;
}
