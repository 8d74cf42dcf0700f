/* commands/set_fields.c - changes fields of a job file, for submit --set */
#include "commands/set_fields.h"

#include <string.h>

#include "base/yaml.h"

/* Split FIELD=VALUE.  -1 and a sentence when there is no such pair. */
static int cut_assignment(const char *set, struct text *field, struct text *value,
                          struct error *error)
{
    const char *equals = strchr(set, '=');
    struct error_quote_buffer buffer;
    if (!equals || equals == set)
        return error_set(error,
                         "--set: found \"%s\", expected FIELD=VALUE such as tasks.main.gpus=2",
                         error_quote(&buffer, set, strlen(set)));
    *field = (struct text){set, (size_t)(equals - set)};
    *value = text_of(equals + 1);
    return 0;
}

/* ---- a batch script ---- */

/* Is this line `#DL FIELD=...`? */
static bool is_directive(struct text line, struct text field)
{
    if (!text_starts(line, "#DL"))
        return false;
    struct text rest = text_trim((struct text){line.data + 3, line.length - 3}), name;
    return text_next(&rest, '=', &name) && rest.data && text_equal(text_trim(name), field);
}

/* Put the fields below the first line of the script, and drop its own lines that set them. */
static int set_in_script(struct text bytes, const struct option_list *sets, struct buffer *out,
                         struct error *error)
{
    struct text rest = bytes, line, field, value;
    bool first = true;
    while (rest.data && rest.length && text_next(&rest, '\n', &line)) {
        bool dropped = false;
        for (size_t i = 0; i < sets->count; i++) {
            if (cut_assignment(sets->items[i], &field, &value, error))
                return -1;
            dropped = dropped || is_directive(line, field);
        }
        if (!dropped) {
            buffer_add_text(out, line);
            buffer_add_byte(out, '\n');
        }
        for (size_t i = 0; i < sets->count && first; i++)
            buffer_printf(out, "#DL %s\n", sets->items[i]);
        first = false;
    }
    return 0;
}

/* ---- YAML and JSON ---- */

/* Numbers are kept as they were written: a version of 1.10 is not 1.1. */
static struct value *keep_written(struct arena *arena, struct value *value)
{
    char buffer[NUMBER_TEXT_SIZE];
    if (value->kind == VALUE_LIST)
        for (size_t i = 0; i < value->list.count; i++)
            value->list.items[i] = keep_written(arena, value->list.items[i]);
    if (value->kind == VALUE_OBJECT)
        for (size_t i = 0; i < value->object.count; i++)
            value->object.members[i].value = keep_written(arena, value->object.members[i].value);
    if (value->kind != VALUE_NUMBER || !value->written.length)
        return value;
    value_format_number(value->number, buffer);
    return text_is(value->written, buffer) ? value : value_text(arena, value->written);
}

/* Descend to the object that has the last name of the path; objects on the way are made if
 * missing. */
static struct value *descend_to_parent(struct arena *arena, struct value *tree, struct text *path,
                                       const char *set, struct error *error)
{
    struct text name;
    for (;;) {
        const char *dot = memchr(path->data, '.', path->length);
        if (!dot)
            return tree;
        name = (struct text){path->data, (size_t)(dot - path->data)};
        path->length -= name.length + 1;
        path->data = dot + 1;
        const struct member *member = value_member(tree, name);
        struct value *inner = member ? member->value : value_object(arena);
        if (inner->kind != VALUE_OBJECT) {
            error_set(error, "--set %s: %.*s is no map in the job file, expected one", set,
                      (int)name.length, name.data);
            return NULL;
        }
        if (!member)
            value_set(arena, tree, name, inner);
        tree = inner;
    }
}

static int set_one(struct arena *arena, struct value *tree, const char *set, struct error *error)
{
    struct text field, written;
    if (cut_assignment(set, &field, &written, error))
        return -1;
    struct value *place = descend_to_parent(arena, tree, &field, set, error);
    if (!place)
        return -1;
    struct value *value = yaml_read(arena, written, "--set", &yaml_request_limits, NULL);
    value_set(arena, place, field, value ? keep_written(arena, value) : value_text(arena, written));
    return 0;
}

int set_fields(struct arena *arena, struct text bytes, const char *path,
               const struct option_list *sets, struct buffer *out, struct error *error)
{
    if (text_starts(bytes, "#!"))
        return set_in_script(bytes, sets, out, error);
    struct value *tree = yaml_read(arena, bytes, path, &yaml_request_limits, error);
    if (!tree)
        return -1;
    if (tree->kind != VALUE_OBJECT)
        return error_set(error, "%s: found %s, expected the fields of a job", path,
                         value_kind_name(tree->kind));
    tree = keep_written(arena, tree);
    for (size_t i = 0; i < sets->count; i++)
        if (set_one(arena, tree, sets->items[i], error))
            return -1;
    return yaml_write(out, tree, error);
}
