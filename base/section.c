/* base/section.c - settings of dlspool.yaml, as rows of a table */
#include "base/section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/value_path.h"

enum { MOST_FIELDS = 128 };

int section_expected(const struct section *section, const struct value *value, const char *field,
                     const char *what)
{
    struct buffer found = {0};
    value_path_add_found(&found, value);
    error_set(section->error, "dlspool.yaml:%u:%u: %s%s%s: found %s, expected %s", value->line,
              value->column, section->name, *section->name && *field ? "." : "", field, found.data,
              what);
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
    char least[CLOCK_TEXT_SIZE], most[CLOCK_TEXT_SIZE], what[160];
    int64_t duration = -1;
    if (value->kind == VALUE_NUMBER && value->number >= 0 &&
        value->number <= (double)field->most / 1000)
        duration = (int64_t)(value->number * 1000);
    else if (value->kind != VALUE_STRING || duration_parse(value->string, &duration))
        duration = -1;
    if (duration >= 0 && duration >= field->least && duration <= field->most) {
        *target = duration;
        return 0;
    }
    duration_format(field->least, least);
    duration_format(field->most, most);
    snprintf(what, sizeof(what), "a duration such as 500ms, 30s or 5m, from %s to %s", least, most);
    return section_expected(section, value, field->name, what);
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

/* Read the value of one setting by its kind, and store it.  -1 and a sentence when it does not fit. */
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
    case SECTION_INNER:
    case SECTION_TREE:
        return value->kind == VALUE_OBJECT
                   ? 0
                   : section_expected(section, value, field->name, "settings as name: value");
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
    else if (field->kind < SECTION_INNER && field->kind != SECTION_OWN)
        *(int64_t *)target = field->otherwise;
}

static int unknown_field(const struct section *section, const struct section_field *fields,
                         size_t count, const char *prefix, const struct member *member)
{
    const char *names[MOST_FIELDS + 1] = {NULL};
    struct error_quote_buffer quote;
    struct nearest_hint hint;
    size_t known = 0, length = strlen(prefix);
    for (size_t i = 0; i < count && known < MOST_FIELDS; i++)
        if (strncmp(fields[i].name, prefix, length) == 0 && !strchr(fields[i].name + length, '.'))
            names[known++] = fields[i].name + length;
    return error_set(section->error, "dlspool.yaml:%u:%u: %s%s%s%s: unknown setting%s",
                     member->line, member->column, section->name, *section->name ? "." : "", prefix,
                     error_quote(&quote, member->key.data, member->key.length),
                     nearest_hint(&hint, member->key, names));
}

/* The row of a setting in that inner section ("planner.", or "" for none), or NULL. */
static const struct section_field *find_row(const struct section_field *fields, size_t count,
                                            const char *prefix, struct text key)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < count; i++)
        if (strncmp(fields[i].name, prefix, length) == 0 && text_is(key, fields[i].name + length) &&
            !memchr(key.data, '.', key.length))
            return &fields[i];
    return NULL;
}

static int read_members(const struct section *section, const struct section_field *fields,
                        size_t count, const char *prefix, const struct value *tree)
{
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        const struct section_field *row = find_row(fields, count, prefix, member->key);
        char inner[32];
        if (!row)
            return unknown_field(section, fields, count, prefix, member);
        if (member->value->kind == VALUE_NULL)
            continue;
        if (read_field(section, row, member->value))
            return -1;
        snprintf(inner, sizeof(inner), "%s.", row->name);
        if (row->kind == SECTION_INNER &&
            read_members(section, fields, count, inner, member->value))
            return -1;
    }
    return 0;
}

int section_read(const struct section *section, const struct value *tree,
                 const struct section_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_default(section, &fields[i]);
    if (!tree || tree->kind == VALUE_NULL)
        return 0;
    if (tree->kind != VALUE_OBJECT)
        return section_expected(section, tree, "", "settings as name: value");
    return read_members(section, fields, count, "", tree);
}
