/* executors/manifest_fields.c - reading a manifest strictly, by tables of its fields */
#include "executors/manifest_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "executors/completion.h"

enum { ROLE_MAX = 15, FIELDS_MAX = 32 };

/* Set the sentence "manifest.yaml:LINE:COLUMN: PATH: ..."; -1. */
static int __attribute__((format(printf, 5, 6)))
refuse_field(struct manifest_reading *reading, const struct value_path *place, uint32_t line,
             uint32_t column, const char *format, ...)
{
    struct buffer sentence = {0};
    va_list arguments;
    buffer_printf(&sentence, "manifest.yaml:%u:%u: ", line, column);
    value_path_add(&sentence, place);
    buffer_add_string(&sentence, place ? ": " : "the document: ");
    va_start(arguments, format);
    buffer_vprintf(&sentence, format, arguments);
    va_end(arguments);
    error_set(reading->error, "%s", sentence.data);
    buffer_free(&sentence);
    return -1;
}

int manifest_fields_expected(struct manifest_reading *reading, const struct value_path *place,
                             const struct value *value, const char *what)
{
    struct buffer found = {0};
    value_path_add_found(&found, value);
    refuse_field(reading, place, value->line, value->column, "found %s, expected %s", found.data,
                 what);
    buffer_free(&found);
    return -1;
}

/* ---- fields ---- */

static int unknown_field(struct manifest_reading *reading, const struct value_path *place,
                         const struct manifest_field *fields, const struct member *member)
{
    const char *names[FIELDS_MAX + 1] = {NULL};
    for (size_t i = 0; fields[i].name && i < FIELDS_MAX; i++)
        names[i] = fields[i].name;
    struct value_path inner = {.above = place, .name = member->key};
    struct buffer list = {0};
    for (size_t i = 0; names[i]; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "", names[i]);
    const char *nearest = nearest_word(member->key, names);
    if (nearest)
        refuse_field(reading, &inner, member->line, member->column,
                     "unknown field; did you mean %s?", nearest);
    else
        refuse_field(reading, &inner, member->line, member->column,
                     "unknown field, expected one of %s", list.data);
    buffer_free(&list);
    return -1;
}

int manifest_fields_read(struct manifest_reading *reading, const struct value_path *place,
                         const struct value *value, const struct manifest_field *fields,
                         void *target)
{
    if (value->kind != VALUE_OBJECT)
        return manifest_fields_expected(reading, place, value, "an object");
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        const struct manifest_field *field = fields;
        while (field->name && !text_is(member->key, field->name))
            field++;
        if (!field->name)
            return unknown_field(reading, place, fields, member);
        struct value_path inner = {.above = place, .name = member->key};
        if (field->read(reading, &inner, member->value, (char *)target + field->offset))
            return -1;
    }
    for (const struct manifest_field *field = fields; field->name; field++) {
        struct value_path inner = {.above = place, .name = text_of(field->name)};
        if (field->required && !value_get(value, field->name))
            return refuse_field(reading, &inner, value->line, value->column, "missing");
    }
    return 0;
}

/* ---- leaves ---- */

bool manifest_fields_is_plain(const struct value *value)
{
    return value->kind == VALUE_STRING && !memchr(value->string.data, '\0', value->string.length);
}

int manifest_fields_read_content(struct manifest_reading *reading, const struct value_path *place,
                                 struct value *value, void *target)
{
    if (value->kind != VALUE_STRING)
        return manifest_fields_expected(reading, place, value, "a string");
    *(struct text *)target = value->string;
    return 0;
}

int manifest_fields_read_role(struct manifest_reading *reading, const struct value_path *place,
                              struct value *value, void *target)
{
    static const char what[] = "a name of at most 15 small letters, digits and inner hyphens that "
                               "starts with a letter";
    if (value->kind != VALUE_STRING || value->string.length == 0 || value->string.length > ROLE_MAX)
        return manifest_fields_expected(reading, place, value, what);
    struct text role = value->string;
    for (size_t i = 0; i < role.length; i++) {
        char byte = role.data[i];
        bool letter = byte >= 'a' && byte <= 'z';
        bool digit = byte >= '0' && byte <= '9';
        bool hyphen = byte == '-' && i + 1 < role.length;
        if (!letter && (i == 0 || (!digit && !hyphen)))
            return manifest_fields_expected(reading, place, value, what);
    }
    *(struct text *)target = role;
    return 0;
}

int manifest_fields_read_bytes(struct manifest_reading *reading, const struct value_path *place,
                               struct value *value, void *target)
{
    static const char what[] = "a number of bytes from 1, or a size such as \"2Gi\"";
    int64_t bytes = 0;
    if (value->kind == VALUE_NUMBER && value->number >= 1 && value->number < 0x1p62 &&
        floor(value->number) == value->number)
        bytes = (int64_t)value->number;
    else if (value->kind != VALUE_STRING || quantity_parse_bytes(value->string, &bytes))
        return manifest_fields_expected(reading, place, value, what);
    if (bytes < 1)
        return manifest_fields_expected(reading, place, value, what);
    *(int64_t *)target = bytes;
    return 0;
}

int manifest_fields_read_count(struct manifest_reading *reading, const struct value_path *place,
                               struct value *value, int max, const char *what, void *target)
{
    if (value->kind != VALUE_NUMBER || value->number < 0 || value->number > max ||
        floor(value->number) != value->number)
        return manifest_fields_expected(reading, place, value, what);
    *(int *)target = (int)value->number;
    return 0;
}

int manifest_fields_read_boolean(struct manifest_reading *reading, const struct value_path *place,
                                 struct value *value, void *target)
{
    if (value->kind != VALUE_BOOLEAN)
        return manifest_fields_expected(reading, place, value, "true or false");
    *(bool *)target = value->boolean;
    return 0;
}

int manifest_fields_read_environment(struct manifest_reading *reading,
                                     const struct value_path *place, struct value *value,
                                     void *target)
{
    if (value->kind != VALUE_OBJECT)
        return manifest_fields_expected(reading, place, value, "an object of strings");
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        struct value_path inner = {.above = place, .name = member->key};
        if (member->key.length == 0 || memchr(member->key.data, '=', member->key.length) ||
            memchr(member->key.data, '\0', member->key.length))
            return manifest_fields_expected(reading, &inner, member->value,
                                            "the name before it to be one of a variable");
        if (!manifest_fields_is_plain(member->value))
            return manifest_fields_expected(reading, &inner, member->value,
                                            "a string without NUL bytes");
    }
    *(struct value **)target = value;
    return 0;
}

int manifest_fields_read_complete(struct manifest_reading *reading, const struct value_path *place,
                                  struct value *value, void *target)
{
    struct error problem;
    if (!completion_of(reading->arena, value, &problem)) {
        char what[ERROR_TEXT_SIZE + 32];
        snprintf(what, sizeof(what), "a rule for each role (%s)", problem.text);
        return manifest_fields_expected(reading, place, value, what);
    }
    *(struct value **)target = value;
    return 0;
}

int manifest_fields_check_complete(struct manifest_reading *reading, const struct value *rule,
                                   const struct text *roles, size_t count, size_t stride)
{
    struct value_path place = {.name = TEXT("complete")};
    for (size_t i = 0; rule && i < rule->object.count; i++) {
        const struct member *member = &rule->object.members[i];
        size_t at = 0;
        while (at < count &&
               !text_equal(*(const struct text *)(const void *)((const char *)roles + at * stride),
                           member->key))
            at++;
        if (at == count)
            return manifest_fields_expected(reading, &place, member->value,
                                            "only roles that tasks have");
    }
    return 0;
}
