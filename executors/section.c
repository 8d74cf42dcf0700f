/* executors/section.c - reading an executor's own part of dlspool.yaml, such as `local:` */
#include "executors/section.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/quantity.h"

enum { MOST_FIELDS = 64 };

int section_expected(const struct section *section, const struct value *value, const char *field,
                     const char *what)
{
    struct error_quote_room room;
    if (value->kind == VALUE_STRING)
        return error_set(section->error, "dlspool.yaml:%u:%u: %s.%s: found \"%s\", expected %s",
                         value->line, value->column, section->name, field,
                         error_quote(&room, value->string.data, value->string.length), what);
    char number[NUMBER_TEXT_SIZE];
    const char *found = value_kind_name(value->kind);
    if (value->kind == VALUE_NUMBER) {
        number_format(value->number, number);
        found = number;
    }
    return error_set(section->error, "dlspool.yaml:%u:%u: %s.%s: found %s, expected %s",
                     value->line, value->column, section->name, field, found, what);
}

int section_whole(const struct section *section, const struct value *value, const char *field,
                  int64_t least, int64_t most, int64_t *target)
{
    char what[80];
    snprintf(what, sizeof(what), "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    if (value->kind != VALUE_NUMBER || value->number < (double)least ||
        value->number > (double)most || floor(value->number) != value->number)
        return section_expected(section, value, field, what);
    *target = (int64_t)value->number;
    return 0;
}

int section_duration(const struct section *section, const struct value *value, const char *field,
                     int64_t most, const char *what, int64_t *target)
{
    int64_t duration = 0;
    if (value->kind == VALUE_NUMBER && value->number > 0 && value->number <= (double)most)
        duration = (int64_t)(value->number * 1000);
    else if (value->kind != VALUE_STRING || duration_parse(value->string, &duration))
        duration = 0;
    if (duration < 1 || duration > most * 1000)
        return section_expected(section, value, field, what);
    *target = duration;
    return 0;
}

int section_bytes(const struct section *section, const struct value *value, const char *field,
                  const char *what, int64_t *target)
{
    int64_t bytes = 0;
    if (value->kind == VALUE_NUMBER && value->number >= 1 && value->number < 0x1p62)
        bytes = (int64_t)value->number;
    else if (value->kind != VALUE_STRING || quantity_parse_bytes(value->string, &bytes))
        bytes = 0;
    if (bytes < 1)
        return section_expected(section, value, field, what);
    *target = bytes;
    return 0;
}

bool section_is_plain(const struct value *value)
{
    if (value->kind != VALUE_STRING)
        return false;
    for (size_t i = 0; i < value->string.length; i++)
        if ((unsigned char)value->string.data[i] < ' ' || value->string.data[i] == 0x7f)
            return false;
    return true;
}

int section_path(const struct section *section, const struct value *value, const char *field,
                 struct text *target)
{
    static const char what[] = "an absolute path without \"..\"";
    if (!section_is_plain(value) || !text_starts(value->string, "/"))
        return section_expected(section, value, field, what);
    struct buffer normal = {0};
    struct text rest = value->string, part;
    bool good = true;
    while (text_next(&rest, '/', &part)) {
        good = good && !text_is(part, "..");
        if (part.length == 0 || text_is(part, "."))
            continue;
        buffer_add_byte(&normal, '/');
        buffer_add_text(&normal, part);
    }
    if (normal.length == 0)
        buffer_add_byte(&normal, '/');
    *target = arena_text(section->arena, normal.data, normal.length);
    buffer_free(&normal);
    return good ? 0 : section_expected(section, value, field, what);
}

static int unknown_field(const struct section *section, const struct section_field *fields,
                         size_t count, const struct member *member)
{
    const char *names[MOST_FIELDS + 1] = {NULL};
    for (size_t i = 0; i < count && i < MOST_FIELDS; i++)
        names[i] = fields[i].name;
    struct error_quote_room room;
    error_quote(&room, member->key.data, member->key.length);
    struct nearest_hint hint;
    return error_set(section->error, "dlspool.yaml:%u: %s.%s: unknown setting%s", member->line,
                     section->name, room.text, nearest_hint(&hint, member->key, names));
}

int section_read(const struct section *section, const struct value *settings,
                 const struct section_field *fields, size_t count)
{
    const struct value *tree = value_get(settings, section->name);
    if (!tree || tree->kind == VALUE_NULL)
        return 0;
    if (tree->kind != VALUE_OBJECT)
        return error_set(section->error,
                         "dlspool.yaml:%u: %s: found %s, expected an object of settings",
                         tree->line, section->name, value_kind_name(tree->kind));
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        size_t at = 0;
        while (at < count && !text_is(member->key, fields[at].name))
            at++;
        if (at == count)
            return unknown_field(section, fields, count, member);
        if (member->value->kind != VALUE_NULL && fields[at].read(section, member->value))
            return -1;
    }
    return 0;
}
