/* request/openpai/v2.c - the OpenPAI dialect of protocol version 2 */
#include "request/openpai/v2.h"

#include <string.h>

#include "request/notes.h"
#include "request/openpai/v2_parts.h"
#include "request/openpai/v2_values.h"
#include "request/values.h"

/* Bytes by which substitutions may lengthen all texts of a file together. */
enum { ROOM = 4 << 20 };

bool openpai_v2_recognise(const struct value *root)
{
    const struct value *roles = value_get(root, "taskRoles");
    if (value_get(root, "protocolVersion"))
        return true;
    return !value_get(root, "jobName") &&
           ((roles && roles->kind == VALUE_OBJECT) || value_get(root, "prerequisites"));
}

/* Add a problem for items of a list with the same name (and the same type, if they have types). */
static void check_twice(struct reading *reading, const struct value *root, const char *name,
                        bool typed)
{
    const struct value *list = value_get(root, name);
    struct value *seen = value_object(reading->arena);
    struct value_path above = {.name = text_of(name)};
    for (size_t i = 0; list && i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct value_path path = {.above = &above, .index = i};
        struct value_path field = {.above = &path, .name = TEXT("name")};
        struct text type = typed ? value_get_text(item, "type") : TEXT("");
        struct text own = value_get_text(item, "name");
        struct text key = arena_printf(reading->arena, "%.*s %.*s", (int)type.length,
                                       type.data ? type.data : "", (int)own.length, own.data);
        const struct value *at = value_get(item, "name");
        const struct member *first = value_member(seen, key);
        if (first)
            problems_expected(reading, &field, at, "another name: line %.0f has the same%s",
                              first->value->number, typed ? " and the same type" : "");
        else
            value_set(reading->arena, seen, key, value_number(reading->arena, at->line));
    }
}

/* ---- defaults ---- */

static void read_defaults(struct openpai_v2 *file)
{
    const struct value *defaults = value_get(file->root, "defaults");
    const struct value *name = value_get(defaults, "deployment");
    const struct value *deployments = value_get(file->root, "deployments");
    struct value_path above = {.name = TEXT("defaults")};
    struct value_path path = {.above = &above, .name = TEXT("deployment")};
    struct arena *arena = file->reading->arena;
    const struct value *cluster = value_get(defaults, "virtualCluster");
    if (cluster && cluster->kind != VALUE_NULL)
        values_scalar_text(cluster, false, &file->job->platform.cluster);
    for (size_t i = 0; name && deployments && i < deployments->list.count; i++)
        if (text_equal(value_get_text(deployments->list.items[i], "name"), name->string))
            file->deployment = deployments->list.items[i];
    if (name && !file->deployment)
        problems_expected(file->reading, &path, name, "the name of one of the deployments");
    for (size_t i = 0; defaults && i < defaults->object.count; i++) {
        struct value_path field = {.above = &above, .name = defaults->object.members[i].key};
        if (!text_is(field.name, "deployment") && !text_is(field.name, "virtualCluster"))
            request_notes_add(arena, &file->job->notes, openpai_v2_value_place(arena, &field),
                              "no effect here");
    }
}

struct description *openpai_v2_read(struct reading *reading, const struct value *root)
{
    struct description *job = arena_allocate(reading->arena, sizeof(*job));
    struct openpai_v2 file = {.reading = reading, .root = root, .job = job, .budget = ROOM};
    openpai_v2_secrets_check(reading, root);
    if (!reading->found)
        openpai_v2_shape_check(reading, root);
    if (reading->found)
        return NULL;
    job->name = value_get_text(root, "name");
    job->library = TEXT("any");
    job->type = TEXT("roles");
    job->platform.name = TEXT("openpai");
    job->retries = (int)value_get_number(root, "jobRetryCount", 0);
    check_twice(reading, root, "prerequisites", true);
    check_twice(reading, root, "deployments", false);
    read_defaults(&file);
    openpai_v2_prerequisites_read(&file);
    openpai_v2_roles_read(&file);
    openpai_v2_extras_read(&file);
    return reading->found ? NULL : job;
}
