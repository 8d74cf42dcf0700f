/* executors/manifest_fields.c - reading a manifest strictly, by tables of its fields */
#include "executors/manifest_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "executors/completion.h"

enum { ROLE_MAX = 15, FIELDS_MAX = 32 };

static void add_place(struct buffer *out, const struct manifest_place *place)
{
    if (!place)
        return;
    add_place(out, place->parent);
    if (place->field)
        buffer_printf(out, "%s%s", out->length ? "." : "", place->field);
    else
        buffer_printf(out, "[%zu]", place->index);
}

static void add_found(struct buffer *out, const struct value *value)
{
    struct error_quote_room room;
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_STRING:
        buffer_printf(out, "\"%s\"", error_quote(&room, value->string.data, value->string.length));
        break;
    case VALUE_NUMBER:
        number_format(value->number, number);
        buffer_add_string(out, number);
        break;
    case VALUE_BOOLEAN:
        buffer_add_string(out, value->boolean ? "true" : "false");
        break;
    default:
        buffer_add_string(out, value_kind_name(value->kind));
    }
}

int manifest_expected(struct manifest_reading *reading, const struct manifest_place *place,
                      const struct value *value, const char *what)
{
    struct buffer path = {0}, found = {0};
    buffer_add(&path, "", 0);
    add_place(&path, place);
    add_found(&found, value);
    error_set(reading->error, "manifest.yaml:%u:%u: %s: found %s, expected %s", value->line,
              value->column, path.length ? path.data : "the document", found.data, what);
    buffer_free(&path);
    buffer_free(&found);
    return -1;
}

/* ---- fields ---- */

static int unknown_field(struct manifest_reading *reading, const struct manifest_place *place,
                         const struct manifest_field *fields, const struct member *member)
{
    const char *names[FIELDS_MAX + 1] = {NULL};
    for (size_t i = 0; fields[i].name && i < FIELDS_MAX; i++)
        names[i] = fields[i].name;
    struct buffer path = {0}, list = {0};
    buffer_add(&path, "", 0);
    add_place(&path, place);
    for (size_t i = 0; names[i]; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "", names[i]);
    struct error_quote_room room;
    error_quote(&room, member->key.data, member->key.length);
    const char *nearest = nearest_word(member->key, names);
    const char *separator = path.length ? "." : "";
    if (nearest)
        error_set(reading->error, "manifest.yaml:%u:%u: %s%s%s: unknown field; did you mean %s?",
                  member->line, member->column, path.data, separator, room.text, nearest);
    else
        error_set(reading->error, "manifest.yaml:%u:%u: %s%s%s: unknown field, expected one of %s",
                  member->line, member->column, path.data, separator, room.text, list.data);
    buffer_free(&path);
    buffer_free(&list);
    return -1;
}

static int missing_field(struct manifest_reading *reading, const struct manifest_place *place,
                         const struct value *value, const char *name)
{
    struct buffer path = {0};
    buffer_add(&path, "", 0);
    add_place(&path, place);
    error_set(reading->error, "manifest.yaml:%u:%u: %s%s%s: missing", value->line, value->column,
              path.data, path.length ? "." : "", name);
    buffer_free(&path);
    return -1;
}

int manifest_read_fields(struct manifest_reading *reading, const struct manifest_place *place,
                         const struct value *value, const struct manifest_field *fields,
                         void *target)
{
    if (value->kind != VALUE_OBJECT)
        return manifest_expected(reading, place, value, "an object");
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        const struct manifest_field *field = fields;
        while (field->name && !text_is(member->key, field->name))
            field++;
        if (!field->name)
            return unknown_field(reading, place, fields, member);
        struct manifest_place inner = {.parent = place, .field = field->name};
        if (field->read(reading, &inner, member->value, (char *)target + field->offset))
            return -1;
    }
    for (const struct manifest_field *field = fields; field->name; field++)
        if (field->required && !value_get(value, field->name))
            return missing_field(reading, place, value, field->name);
    return 0;
}

/* ---- leaves ---- */

bool manifest_is_plain(const struct value *value)
{
    return value->kind == VALUE_STRING && !memchr(value->string.data, '\0', value->string.length);
}

int manifest_read_content(struct manifest_reading *reading, const struct manifest_place *place,
                          struct value *value, void *target)
{
    if (value->kind != VALUE_STRING)
        return manifest_expected(reading, place, value, "a string");
    *(struct text *)target = value->string;
    return 0;
}

int manifest_read_role(struct manifest_reading *reading, const struct manifest_place *place,
                       struct value *value, void *target)
{
    static const char what[] = "a name of at most 15 small letters, digits and inner hyphens that "
                               "starts with a letter";
    if (value->kind != VALUE_STRING || value->string.length == 0 || value->string.length > ROLE_MAX)
        return manifest_expected(reading, place, value, what);
    struct text role = value->string;
    for (size_t i = 0; i < role.length; i++) {
        char byte = role.data[i];
        bool letter = byte >= 'a' && byte <= 'z';
        bool digit = byte >= '0' && byte <= '9';
        bool hyphen = byte == '-' && i + 1 < role.length;
        if (!letter && (i == 0 || (!digit && !hyphen)))
            return manifest_expected(reading, place, value, what);
    }
    *(struct text *)target = role;
    return 0;
}

int manifest_read_bytes(struct manifest_reading *reading, const struct manifest_place *place,
                        struct value *value, void *target)
{
    static const char what[] = "a number of bytes from 1, or a size such as \"2Gi\"";
    int64_t bytes = 0;
    if (value->kind == VALUE_NUMBER && value->number >= 1 && value->number < 0x1p62 &&
        floor(value->number) == value->number)
        bytes = (int64_t)value->number;
    else if (value->kind != VALUE_STRING || quantity_parse_bytes(value->string, &bytes))
        return manifest_expected(reading, place, value, what);
    if (bytes < 1)
        return manifest_expected(reading, place, value, what);
    *(int64_t *)target = bytes;
    return 0;
}

int manifest_read_count(struct manifest_reading *reading, const struct manifest_place *place,
                        struct value *value, int max, const char *what, void *target)
{
    if (value->kind != VALUE_NUMBER || value->number < 0 || value->number > max ||
        floor(value->number) != value->number)
        return manifest_expected(reading, place, value, what);
    *(int *)target = (int)value->number;
    return 0;
}

int manifest_read_boolean(struct manifest_reading *reading, const struct manifest_place *place,
                          struct value *value, void *target)
{
    if (value->kind != VALUE_BOOLEAN)
        return manifest_expected(reading, place, value, "true or false");
    *(bool *)target = value->boolean;
    return 0;
}

int manifest_read_environment(struct manifest_reading *reading, const struct manifest_place *place,
                              struct value *value, void *target)
{
    if (value->kind != VALUE_OBJECT)
        return manifest_expected(reading, place, value, "an object of strings");
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        struct error_quote_room room;
        struct manifest_place inner = {
            .parent = place, .field = error_quote(&room, member->key.data, member->key.length)};
        if (member->key.length == 0 || memchr(member->key.data, '=', member->key.length) ||
            memchr(member->key.data, '\0', member->key.length))
            return manifest_expected(reading, &inner, member->value,
                                     "the name before it to be one of a variable");
        if (!manifest_is_plain(member->value))
            return manifest_expected(reading, &inner, member->value, "a string without NUL bytes");
    }
    *(struct value **)target = value;
    return 0;
}

int manifest_read_complete(struct manifest_reading *reading, const struct manifest_place *place,
                           struct value *value, void *target)
{
    struct error problem;
    if (!completion_of(reading->arena, value, &problem)) {
        char what[ERROR_TEXT_SIZE + 32];
        snprintf(what, sizeof(what), "a rule for each role (%s)", problem.text);
        return manifest_expected(reading, place, value, what);
    }
    *(struct value **)target = value;
    return 0;
}
