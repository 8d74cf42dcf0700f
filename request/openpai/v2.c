/* request/openpai/v2.c - the OpenPAI dialect of protocol version 2 */
#include "request/openpai/v2.h"

#include <string.h>

#include "request/notes.h"
#include "request/openpai/v2_parts.h"
#include "request/values.h"

/* Bytes that the texts of one file may become longer by what is put into them. */
enum { ROOM = 4 << 20 };

/* Where the registry is that auth without registryuri is meant for. */
#define USUAL_REGISTRY "https://index.docker.io/v1/"

bool openpai_2_recognise(const struct value *root)
{
    const struct value *roles = value_get(root, "taskRoles");
    if (value_get(root, "protocolVersion"))
        return true;
    return !value_get(root, "jobName") &&
           ((roles && roles->kind == VALUE_OBJECT) || value_get(root, "prerequisites"));
}

const char *openpai_2_place(struct arena *arena, const struct value_path *path)
{
    struct error_quote_buffer buffer;
    const char *above = path->above ? openpai_2_place(arena, path->above) : "";
    if (!path->name.data)
        return arena_printf(arena, "%s[%zu]", above, path->index).data;
    return arena_printf(arena, "%s%s%s", above, *above ? "." : "",
                        error_quote(&buffer, path->name.data, path->name.length))
        .data;
}

/* ---- prerequisites and deployments ---- */

static bool is_of(const struct value *item, const char *type, struct text name)
{
    return text_is(value_get_text(item, "type"), type) &&
           text_equal(value_get_text(item, "name"), name);
}

const struct value *openpai_2_prerequisite(const struct openpai_2 *file, const char *type,
                                           struct text name)
{
    const struct value *list = value_get(file->root, "prerequisites");
    for (size_t i = 0; list && i < list->list.count; i++)
        if (is_of(list->list.items[i], type, name))
            return list->list.items[i];
    return NULL;
}

/* No two items of a list have one name (and one type, where they have types). */
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

/* What plugins would do with a prerequisite, and fields of somebody else's. */
static void say_of_prerequisite(struct openpai_2 *file, const struct value_path *path,
                                const struct value *item)
{
    static const char *const known[] = {"protocolVersion", "name", "type", "version", "contributor",
                                        "description",     "auth", "uri",  NULL};
    struct arena *arena = file->reading->arena;
    for (size_t i = 0; i < item->object.count; i++) {
        struct text key = item->object.members[i].key;
        struct value_path field = {.above = path, .name = key};
        size_t at = 0;
        while (known[at] && !text_is(key, known[at]))
            at++;
        if (!known[at])
            request_notes_add(
                arena, &file->job->notes, openpai_2_place(arena, &field), "%s",
                text_is(key, "callbacks")
                    ? "no effect here: put these commands into the task role's commands"
                    : "no effect here: there is no plugin that would act on it");
    }
}

/* ---- registries ---- */

static struct text render_credential(struct openpai_2 *file, const struct value_path *above,
                                     const struct value *auth, const char *name,
                                     const char *otherwise)
{
    const struct value *value = value_get(auth, name);
    struct value_path path = {.above = above, .name = text_of(name)};
    struct openpai_2_names names = {
        .secrets = value_get(file->root, "secrets"), .secrets_only = true, .budget = &file->budget};
    struct openpai_2_text out = {0};
    if (!value)
        return text_of(otherwise);
    openpai_2_render(file->reading, &path, value, text_trim(value->string), &names, &out);
    struct text text =
        arena_text(file->reading->arena, out.plain.data ? out.plain.data : "", out.plain.length);
    if (memchr(text.data, '\0', text.length))
        problems_add(file->reading, &path, value->line, value->column,
                     "found a NUL byte, expected a text without");
    openpai_2_text_free(&out);
    return text;
}

static void read_registry(struct openpai_2 *file, const struct value_path *above,
                          const struct value *auth)
{
    struct description *job = file->job;
    struct value_path path = {.above = above, .name = TEXT("auth")};
    job->registries[job->registries_count++] = (struct registry){
        .server = render_credential(file, &path, auth, "registryuri", USUAL_REGISTRY),
        .user = render_credential(file, &path, auth, "username", ""),
        .password = render_credential(file, &path, auth, "password", ""),
    };
}

static void read_prerequisites(struct openpai_2 *file)
{
    const struct value *list = value_get(file->root, "prerequisites");
    struct value_path above = {.name = TEXT("prerequisites")};
    if (!list)
        return;
    file->job->registries =
        arena_allocate(file->reading->arena, list->list.count * sizeof(struct registry));
    for (size_t i = 0; i < list->list.count; i++) {
        struct value_path path = {.above = &above, .index = i};
        const struct value *auth = value_get(list->list.items[i], "auth");
        say_of_prerequisite(file, &path, list->list.items[i]);
        if (auth && auth->kind == VALUE_OBJECT)
            read_registry(file, &path, auth);
    }
}

/* ---- defaults ---- */

static void read_defaults(struct openpai_2 *file)
{
    const struct value *defaults = value_get(file->root, "defaults");
    const struct value *name = value_get(defaults, "deployment");
    const struct value *deployments = value_get(file->root, "deployments");
    struct value_path above = {.name = TEXT("defaults")};
    struct value_path path = {.above = &above, .name = TEXT("deployment")};
    struct arena *arena = file->reading->arena;
    const struct value *cluster = value_get(defaults, "virtualCluster");
    if (cluster && cluster->kind != VALUE_NULL)
        take_scalar_text(cluster, false, &file->job->platform.cluster);
    for (size_t i = 0; name && deployments && i < deployments->list.count; i++)
        if (text_equal(value_get_text(deployments->list.items[i], "name"), name->string))
            file->deployment = deployments->list.items[i];
    if (name && !file->deployment)
        problems_expected(file->reading, &path, name, "the name of one of the deployments");
    for (size_t i = 0; defaults && i < defaults->object.count; i++) {
        struct value_path field = {.above = &above, .name = defaults->object.members[i].key};
        if (!text_is(field.name, "deployment") && !text_is(field.name, "virtualCluster"))
            request_notes_add(arena, &file->job->notes, openpai_2_place(arena, &field),
                              "no effect here");
    }
}

struct description *openpai_2_read(struct reading *reading, const struct value *root)
{
    struct description *job = arena_allocate(reading->arena, sizeof(*job));
    struct openpai_2 file = {.reading = reading, .root = root, .job = job, .budget = ROOM};
    openpai_2_check_secrets(reading, root);
    if (!reading->found)
        openpai_2_check_shape(reading, root);
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
    read_prerequisites(&file);
    openpai_2_read_roles(&file);
    openpai_2_read_extras(&file);
    return reading->found ? NULL : job;
}
