/* request/openpai/v2_shape.c - the shape of an OpenPAI v2 file: its JSON schema, as tables
 *
 * As in the schema, null is refused unless a field allows it, and some maps are open: keys that are
 * not in the table are ignored here and get a note later.
 */
#include <limits.h>

#include "request/openpai/v2_parts.h"
#include "request/openpai/v2_values.h"
#include "request/tasks.h"

enum {
    MEMORY_MOST_MB = 1 << 28, /* 256 TiB */
    CPU_MOST = 100000,
    PORTS_EACH = 1000, /* of one label: they are all in one environment variable */
};

#define CLOSED(fields_of, whose)                                                                   \
    {                                                                                              \
        .fields = fields_of, .count = ARRAY_COUNT(fields_of), .owner = whose,                      \
        .null_is_value = true                                                                      \
    }
#define OPEN(fields_of, whose)                                                                     \
    {                                                                                              \
        .fields = fields_of, .count = ARRAY_COUNT(fields_of), .owner = whose,                      \
        .null_is_value = true, .open = true                                                        \
    }

/* ---- maps ---- */

/* Read a map of the table's fields; those in `required` (ends with NULL) must be present. */
static void read_map(struct reading *reading, const struct value_path *path,
                     const struct value *value, const struct field_table *table,
                     const char *const *required)
{
    char nothing;
    if (value->kind != VALUE_OBJECT) {
        problems_expected(reading, path, value, "a map of the fields of %s", table->owner);
        return;
    }
    fields_read(reading, path, value, table, &nothing);
    for (; required && *required; required++) {
        struct value_path missing = {.above = path, .name = text_of(*required)};
        if (!value_get(value, *required))
            problems_add(reading, &missing, value->line, value->column,
                         "missing, expected it in %s", table->owner);
    }
}

/* Read a map with at least one key; keys are names as of variables, values are for the reader. */
static void read_keyed(struct reading *reading, const struct value_path *path,
                       const struct value *value, const struct field *each, const char *what)
{
    struct error_quote_buffer buffer;
    if (value->kind != VALUE_OBJECT || value->object.count == 0) {
        problems_expected(reading, path, value, "a map of one or more %ss", what);
        return;
    }
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        struct value_path item = {.above = path, .name = member->key};
        if (!openpai_v2_value_is_key(member->key))
            problems_add(reading, &item, member->line, member->column,
                         "found the name \"%s\", expected a %s's name of letters, digits and _, "
                         "the first of them no digit",
                         error_quote(&buffer, member->key.data, member->key.length), what);
        each->read(reading, &item, member->value, each, NULL);
    }
}

static const struct field port_count = {SHAPE("port", shape_whole_number), .least = 0,
                                        .most = PORTS_EACH};

/* The schema requires no type, so `ports:` without a value means no ports. */
static SHAPE_READER(read_ports)
{
    if (value->kind != VALUE_NULL)
        read_keyed(reading, path, value, &port_count, "port");
}

static const struct field resource_fields[] = {
    {SHAPE("cpu", shape_whole_number), .least = 0, .most = CPU_MOST},
    {SHAPE("memoryMB", shape_whole_number), .least = 0, .most = MEMORY_MOST_MB},
    {SHAPE("gpu", shape_whole_number), .least = 0, .most = GPUS_MOST},
    {SHAPE("ports", read_ports)},
};
static const struct field_table resource_table = CLOSED(resource_fields, "resourcePerInstance");

static SHAPE_READER(read_resource)
{
    static const char *const required[] = {"cpu", "memoryMB", "gpu", NULL};
    (void)field;
    (void)into;
    read_map(reading, path, value, &resource_table, required);
}

static const struct field completion_fields[] = {
    {SHAPE("minFailedInstances", shape_completion_number)},
    {SHAPE("minSucceededInstances", shape_completion_number)},
};
static const struct field_table completion_table = CLOSED(completion_fields, "completion");

static SHAPE_READER(read_completion)
{
    read_map(reading, path, value, &completion_table, NULL);
}

static const struct field container_fields[] = {
    {SHAPE("shmMB", shape_whole_number), .least = 0, .most = MEMORY_MOST_MB},
};
static const struct field_table container_table = OPEN(container_fields, "extraContainerOptions");

static SHAPE_READER(read_container)
{
    read_map(reading, path, value, &container_table, NULL);
}

static const struct field role_fields[] = {
    {SHAPE("protocolVersion", shape_protocol_version)},
    {SHAPE("instances", shape_whole_number), .least = 1, .most = TASKS_MOST},
    {SHAPE("completion", read_completion)},
    {SHAPE("taskRetryCount", shape_whole_number), .least = INT_MIN, .most = INT_MAX},
    {SHAPE("prerequisites", shape_strings)},
    {SHAPE("dockerImage", shape_string)},
    {SHAPE("data", shape_string)},
    {SHAPE("output", shape_string)},
    {SHAPE("script", shape_string)},
    {SHAPE("extraContainerOptions", read_container)},
    {SHAPE("resourcePerInstance", read_resource)},
    {SHAPE("commands", shape_strings), .least = 1},
};
static const struct field_table role_table = CLOSED(role_fields, "a task role");

static void read_role(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    static const char *const required[] = {"dockerImage", "resourcePerInstance", "commands", NULL};
    (void)field;
    (void)into;
    read_map(reading, path, value, &role_table, required);
}

static const struct field each_role = {SHAPE("role", read_role)};

static SHAPE_READER(read_roles)
{
    read_keyed(reading, path, value, &each_role, "task role");
}

/* ---- prerequisites ---- */

static const struct field auth_fields[] = {
    {SHAPE("username", shape_string)},
    {SHAPE("password", shape_string)},
    {SHAPE("registryuri", shape_string)},
};
static const struct field_table auth_table = OPEN(auth_fields, "auth");

static void read_auth(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    char nothing;
    (void)field;
    (void)into;
    if (value->kind != VALUE_OBJECT)
        problems_add(reading, path, value->line, value->column,
                     "found a %s, expected a map of username, password and registryuri",
                     value_kind_name(value->kind));
    else
        fields_read(reading, path, value, &auth_table, &nothing);
}

#define COMMON_FIELDS                                                                              \
    {SHAPE("protocolVersion", shape_protocol_version)}, {SHAPE("name", shape_name)},               \
        {SHAPE("type", shape_anything)}, {SHAPE("version", shape_text_or_number)},                 \
        {SHAPE("contributor", shape_string)},                                                      \
    {                                                                                              \
        SHAPE("description", shape_string)                                                         \
    }

static const struct field image_fields[] = {
    COMMON_FIELDS,
    {SHAPE("auth", read_auth)},
    {SHAPE("uri", shape_image)},
};
static const struct field data_fields[] = {
    COMMON_FIELDS,
    {SHAPE("plugin", shape_string)},
    {SHAPE("require", shape_strings)},
    {SHAPE("uri", shape_strings)},
};
static const struct field other_fields[] = {
    COMMON_FIELDS,
    {SHAPE("plugin", shape_string)},
    {SHAPE("require", shape_strings)},
    {SHAPE("uri", shape_string)},
};

static const char *const image_required[] = {"name", "uri", NULL};
static const char *const name_required[] = {"name", NULL};

static const struct {
    const char *type;
    struct field_table table;
    const char *const *required;
} prerequisite_types[] = {
    {"dockerimage", CLOSED(image_fields, "a dockerimage"), image_required},
    {"data", OPEN(data_fields, "a data prerequisite"), name_required},
    {"script", OPEN(other_fields, "a script prerequisite"), name_required},
    {"output", OPEN(other_fields, "an output prerequisite"), name_required},
};

static void read_prerequisite(struct reading *reading, const struct value_path *path,
                              const struct value *value)
{
    if (value->kind != VALUE_OBJECT) {
        problems_expected(reading, path, value,
                          "a map such as {type: dockerimage, name: ..., "
                          "uri: ...}");
        return;
    }
    const struct value *type = value_get(value, "type");
    struct value_path type_path = {.above = path, .name = TEXT("type")};
    for (size_t i = 0; type && i < ARRAY_COUNT(prerequisite_types); i++) {
        if (type->kind != VALUE_STRING || !text_is(type->string, prerequisite_types[i].type))
            continue;
        read_map(reading, path, value, &prerequisite_types[i].table,
                 prerequisite_types[i].required);
        return;
    }
    if (type)
        problems_expected(reading, &type_path, type, "dockerimage, data, script or output");
    else
        problems_add(reading, &type_path, value->line, value->column,
                     "missing, expected dockerimage, data, script or output");
}

static SHAPE_READER(read_prerequisites)
{
    if (value->kind != VALUE_LIST || value->list.count == 0) {
        problems_expected(reading, path, value, "a list of one or more prerequisites");
        return;
    }
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = path, .index = i};
        read_prerequisite(reading, &item, value->list.items[i]);
    }
}

/* ---- deployments ---- */

static const struct field wrap_fields[] = {
    {SHAPE("preCommands", shape_strings), .least = 1},
    {SHAPE("postCommands", shape_strings), .least = 1},
};
static const struct field_table wrap_table = CLOSED(wrap_fields, "a deployment's task role");

static void read_wrap(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)field;
    (void)into;
    read_map(reading, path, value, &wrap_table, NULL);
}

static const struct field each_wrap = {SHAPE("role", read_wrap)};

static SHAPE_READER(read_wraps)
{
    read_keyed(reading, path, value, &each_wrap, "task role");
}

static const struct field deployment_fields[] = {
    {SHAPE("protocolVersion", shape_protocol_version)},
    {SHAPE("name", shape_name)},
    {SHAPE("taskRoles", read_wraps)},
};
static const struct field_table deployment_table = OPEN(deployment_fields, "a deployment");

static SHAPE_READER(read_deployments)
{
    static const char *const required[] = {"name", "taskRoles", NULL};
    (void)field;
    (void)into;
    if (value->kind != VALUE_LIST || value->list.count == 0) {
        problems_expected(reading, path, value, "a list of one or more deployments");
        return;
    }
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = path, .index = i};
        read_map(reading, &item, value->list.items[i], &deployment_table, required);
    }
}

/* null is the default virtual cluster; a cluster's name may be a number. */
static SHAPE_READER(read_cluster)
{
    if (value->kind != VALUE_NULL && value->kind != VALUE_NUMBER)
        shape_string(reading, path, value, field, into);
}

static const struct field defaults_fields[] = {
    {SHAPE("deployment", shape_string)},
    {SHAPE("virtualCluster", read_cluster)},
};
static const struct field_table defaults_table = OPEN(defaults_fields, "defaults");

static SHAPE_READER(read_defaults)
{
    read_map(reading, path, value, &defaults_table, NULL);
}

/* ---- the file ---- */

static const struct field file_fields[] = {
    {SHAPE("protocolVersion", shape_protocol_version)},
    {SHAPE("name", shape_name)},
    {SHAPE("type", shape_job_type)},
    {SHAPE("version", shape_text_or_number)},
    {SHAPE("contributor", shape_string)},
    {SHAPE("description", shape_string)},
    {SHAPE("prerequisites", read_prerequisites)},
    {SHAPE("parameters", shape_any_map)},
    {SHAPE("secrets", shape_secrets)},
    {SHAPE("jobRetryCount", shape_whole_number), .least = 0, .most = INT_MAX},
    {SHAPE("taskRoles", read_roles)},
    {SHAPE("deployments", read_deployments)},
    {SHAPE("defaults", read_defaults)},
    {SHAPE("extras", shape_any_map)},
};
static const struct field_table file_table = CLOSED(file_fields, "an OpenPAI job (version 2)");

void openpai_v2_shape_check(struct reading *reading, const struct value *root)
{
    static const char *const required[] = {"protocolVersion", "name", "type", "taskRoles", NULL};
    read_map(reading, NULL, root, &file_table, required);
}
