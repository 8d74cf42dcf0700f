/* request/openpai/v2_prerequisites.c - prerequisites: images, data and programs that roles name, and registries */
#include <string.h>

#include "request/notes.h"
#include "request/openpai/v2_parts.h"
#include "request/openpai/v2_values.h"
#include "request/problems.h"

/* The registry for auth without registryuri. */
#define USUAL_REGISTRY "https://index.docker.io/v1/"

static bool is_of(const struct value *item, const char *type, struct text name)
{
    return text_is(value_get_text(item, "type"), type) &&
           text_equal(value_get_text(item, "name"), name);
}

const struct value *openpai_v2_prerequisite_find(const struct openpai_v2 *file, const char *type,
                                                 struct text name)
{
    const struct value *list = value_get(file->root, "prerequisites");
    for (size_t i = 0; list && i < list->list.count; i++)
        if (is_of(list->list.items[i], type, name))
            return list->list.items[i];
    return NULL;
}

/* Add notes on plugins of a prerequisite and on unknown fields, which have no effect. */
static void say_of_prerequisite(struct openpai_v2 *file, const struct value_path *path,
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
                arena, &file->job->notes, openpai_v2_value_place(arena, &field), "%s",
                text_is(key, "callbacks")
                    ? "no effect here: put these commands into the task role's commands"
                    : "no effect here: there is no plugin that would act on it");
    }
}

/* ---- registries ---- */

static struct text render_credential(struct openpai_v2 *file, const struct value_path *above,
                                     const struct value *auth, const char *name,
                                     const char *otherwise)
{
    const struct value *value = value_get(auth, name);
    struct value_path path = {.above = above, .name = text_of(name)};
    struct openpai_v2_names names = {
        .secrets = value_get(file->root, "secrets"), .secrets_only = true, .budget = &file->budget};
    struct openpai_v2_text out = {0};
    if (!value)
        return text_of(otherwise);
    openpai_v2_template_render(file->reading, &path, value, text_trim(value->string), &names, &out);
    struct text text =
        arena_text(file->reading->arena, out.plain.data ? out.plain.data : "", out.plain.length);
    if (memchr(text.data, '\0', text.length))
        problems_add(file->reading, &path, value->line, value->column,
                     "found a NUL byte, expected a text without");
    openpai_v2_template_free(&out);
    return text;
}

static void read_registry(struct openpai_v2 *file, const struct value_path *above,
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

void openpai_v2_prerequisites_read(struct openpai_v2 *file)
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
