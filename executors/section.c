/* executors/section.c - reading an executor's own part of dlspool.yaml, such as `local:` */
#include "executors/section.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/value_path.h"

enum { MOST_FIELDS = 64 };

int section_expected(const struct section *section, const struct value *value, const char *field,
                     const char *what)
{
    struct buffer found = {0};
    value_found_add(&found, value);
    error_set(section->error, "dlspool.yaml:%u:%u: %s.%s: found %s, expected %s", value->line,
              value->column, section->name, field, found.data, what);
    buffer_free(&found);
    return -1;
}

static int read_whole(const struct section *section, const struct value *value,
                      const struct section_field *field, int64_t *target)
{
    char what[80];
    snprintf(what, sizeof(what), "a whole number from %lld to %lld", (long long)field->least,
             (long long)field->most);
    if (value->kind != VALUE_NUMBER || value->number < (double)field->least ||
        value->number > (double)field->most || floor(value->number) != value->number)
        return section_expected(section, value, field->name, what);
    *target = (int64_t)value->number;
    return 0;
}

/* A number of seconds, or a text such as "30s". */
static int read_duration(const struct section *section, const struct value *value,
                         const struct section_field *field, int64_t *target)
{
    int64_t duration = 0;
    if (value->kind == VALUE_NUMBER && value->number > 0 && value->number <= (double)field->most)
        duration = (int64_t)(value->number * 1000);
    else if (value->kind != VALUE_STRING || duration_parse(value->string, &duration))
        duration = 0;
    if (duration < 1 || duration > field->most * 1000)
        return section_expected(section, value, field->name, field->what);
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
    if (path_climbs(value->string))
        return section_expected(section, value, field, what);
    if (!path_clean(section->arena, value->string, target))
        *target = TEXT("/");
    return 0;
}

static int read_text(const struct section *section, const struct value *value,
                     const struct section_field *field, struct text *target)
{
    if (!section_is_plain(value) || (field->valid && !field->valid(value->string)))
        return section_expected(section, value, field->name, field->what);
    *target = arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_field(const struct section *section, const struct section_field *field,
                      const struct value *value)
{
    void *target = (char *)section->target + field->offset;
    int64_t number = 0;
    switch (field->kind) {
    case SECTION_OWN:
        return field->read(section, value);
    case SECTION_WHOLE:
        return read_whole(section, value, field, target);
    case SECTION_COUNT:
        if (read_whole(section, value, field, &number))
            return -1;
        *(int *)target = (int)number;
        return 0;
    case SECTION_DURATION:
        return read_duration(section, value, field, target);
    case SECTION_BYTES:
        return section_bytes(section, value, field->name, field->what, target);
    case SECTION_BOOLEAN:
        if (value->kind != VALUE_BOOLEAN)
            return section_expected(section, value, field->name, "true or false");
        *(bool *)target = value->boolean;
        return 0;
    case SECTION_TEXT:
        return read_text(section, value, field, target);
    case SECTION_PATH:
        if (value->kind == VALUE_STRING && value->string.length == 0)
            return 0;
        return section_path(section, value, field->name, target);
    }
    return -1;
}

static void set_default(const struct section *section, const struct section_field *field)
{
    void *target = (char *)section->target + field->offset;
    if (field->kind == SECTION_COUNT)
        *(int *)target = (int)field->otherwise;
    else if (field->kind == SECTION_BOOLEAN)
        *(bool *)target = field->otherwise != 0;
    else if (field->kind == SECTION_TEXT || field->kind == SECTION_PATH)
        *(struct text *)target = TEXT("");
    else if (field->kind != SECTION_OWN)
        *(int64_t *)target = field->otherwise;
}

static int unknown_field(const struct section *section, const struct section_field *fields,
                         size_t count, const struct member *member)
{
    const char *names[MOST_FIELDS + 1] = {NULL};
    for (size_t i = 0; i < count && i < MOST_FIELDS; i++)
        names[i] = fields[i].name;
    struct error_quote_buffer quote;
    error_quote(&quote, member->key.data, member->key.length);
    struct nearest_hint hint;
    return error_set(section->error, "dlspool.yaml:%u: %s.%s: unknown setting%s", member->line,
                     section->name, quote.text, nearest_hint(&hint, member->key, names));
}

int section_read(const struct section *section, const struct value *settings,
                 const struct section_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_default(section, &fields[i]);
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
        if (member->value->kind != VALUE_NULL && read_field(section, &fields[at], member->value))
            return -1;
    }
    return 0;
}
