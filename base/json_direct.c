/* base/json_direct.c - JSON text to a value tree, in one pass
 *
 * Each function reads what begins at `at`, and leaves `at` behind it; on false or NULL reading ends.
 */
#include "base/json_direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_step.h"
#include "base/json_string.h"

enum {
    EXACT_DIGITS = 15, /* of a whole number, which a double has exactly */
    SLOTS = 256
};

struct reader {
    struct arena *arena;
    const char *at, *end;
    const char *line_start;
    size_t inside; /* bytes since the start of the line that begin no character */
    uint32_t line;
    const char *name;
    const struct yaml_limits *limits;
    const char *const *unread;
    uint8_t slots[SLOTS]; /* numbers of names in `unread`, from 1, at slot_of() or behind */
    size_t nodes;         /* keys and values, as base/yaml.c counts */
    struct error *error;
};

static uint32_t column_of(const struct reader *reader)
{
    return (uint32_t)((size_t)(reader->at - reader->line_start) - reader->inside) + 1;
}

static void skip_some_space(struct reader *reader)
{
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == '\n') {
            reader->line++;
            reader->line_start = reader->at + 1;
            reader->inside = 0;
        } else if (*reader->at != ' ' && *reader->at != '\t' && *reader->at != '\r') {
            return;
        }
    }
}

/* Most text that machines write has none. */
static inline void skip_space(struct reader *reader)
{
    if (reader->at < reader->end && (unsigned char)*reader->at <= ' ')
        skip_some_space(reader);
}

/* Is the next byte this one?  It is read then. */
static bool take_byte(struct reader *reader, char byte)
{
    bool is = reader->at < reader->end && *reader->at == byte;
    reader->at += is;
    return is;
}

static bool take_string(struct reader *reader, struct text *out)
{
    size_t inside;
    const char *after = json_string_read(reader->arena, reader->at, reader->end, out, &inside);
    if (!after)
        return false;
    reader->at = after;
    reader->inside += inside;
    return true;
}

/* ---- numbers ---- */

static size_t skip_digits(struct reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (size_t)(reader->at - start);
}

/* Step over what comes after the whole part; false when it is none of a number. */
static bool skip_fraction(struct reader *reader)
{
    if (take_byte(reader, '.') && !skip_digits(reader))
        return false;
    if (!take_byte(reader, 'e') && !take_byte(reader, 'E'))
        return true;
    if (!take_byte(reader, '-'))
        take_byte(reader, '+');
    return skip_digits(reader) > 0;
}

static bool take_number(struct reader *reader, struct value *value)
{
    const char *start = reader->at;
    bool negative = take_byte(reader, '-');
    const char *first = reader->at;
    size_t digits = skip_digits(reader);
    if (!digits || (digits > 1 && *first == '0'))
        return false;
    const char *after = reader->at;
    if (!skip_fraction(reader))
        return false;
    value->kind = VALUE_NUMBER;
    value->written = arena_text(reader->arena, start, (size_t)(reader->at - start));
    if (reader->at > after || digits > EXACT_DIGITS) {
        value->number = strtod(value->written.data, NULL);
        return isfinite(value->number);
    }
    double number = 0;
    for (const char *digit = first; digit < after; digit++)
        number = number * 10 + (*digit - '0');
    value->number = negative ? -number : number;
    return true;
}

/* ---- values ---- */

static bool take_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    bool is = (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, word, length) == 0;
    reader->at += is ? length : 0;
    return is;
}

static struct value *read_value(struct reader *reader, size_t depth);

static bool take_items(struct reader *reader, struct value *list, size_t depth)
{
    list->kind = VALUE_LIST;
    reader->at++;
    skip_space(reader);
    if (take_byte(reader, ']'))
        return true;
    do {
        struct value *item = read_value(reader, depth + 1);
        if (!item)
            return false;
        value_append(reader->arena, list, item);
    } while (take_byte(reader, ','));
    return take_byte(reader, ']');
}

/* Most names differ in this. */
static unsigned slot_of(struct text name)
{
    unsigned ends =
        name.length ? (unsigned char)name.data[0] * 5u + (unsigned char)name.data[name.length - 1]
                    : 0;
    return (ends + (unsigned)name.length * 11) % SLOTS;
}

static void note_unread(struct reader *reader)
{
    for (size_t i = 0; reader->unread[i] && i < SLOTS / 2; i++) {
        unsigned slot = slot_of(text_of(reader->unread[i]));
        while (reader->slots[slot])
            slot = (slot + 1) % SLOTS;
        reader->slots[slot] = (uint8_t)(i + 1);
    }
}

static bool is_unread(const struct reader *reader, struct text name)
{
    if (!reader->unread)
        return false;
    for (unsigned slot = slot_of(name); reader->slots[slot]; slot = (slot + 1) % SLOTS)
        if (text_is(name, reader->unread[reader->slots[slot] - 1]))
            return true;
    return false;
}

/* Step over the value of a member that is not wanted. */
static struct value *skip_value(struct reader *reader)
{
    const char *start = json_step_past_space(reader->at, reader->end);
    reader->at = json_step_past_value(start, reader->end);
    reader->nodes++;
    return reader->at > start ? value_null(reader->arena) : NULL;
}

static bool take_member(struct reader *reader, struct value *object, size_t depth)
{
    struct member place = {.line = reader->line, .column = column_of(reader)};
    const char *start = reader->at + 1;
    if (reader->at >= reader->end || *reader->at != '"' || !take_string(reader, &place.key) ||
        value_member(object, place.key))
        return false;
    struct text written = {start, (size_t)(reader->at - start) - 1};
    /* A NUL is written as an escape, which is longer. */
    if (place.key.length < written.length && memchr(place.key.data, '\0', place.key.length))
        return false;
    reader->nodes++;
    skip_space(reader);
    if (!take_byte(reader, ':'))
        return false;
    struct value *value =
        is_unread(reader, written) ? skip_value(reader) : read_value(reader, depth + 1);
    if (!value)
        return false;
    struct member *member = value_add(reader->arena, object, place.key, value);
    member->line = place.line;
    member->column = place.column;
    skip_space(reader);
    return true;
}

static bool take_members(struct reader *reader, struct value *object, size_t depth)
{
    object->kind = VALUE_OBJECT;
    reader->at++;
    skip_space(reader);
    if (take_byte(reader, '}'))
        return true;
    do {
        skip_space(reader);
        if (!take_member(reader, object, depth))
            return false;
    } while (take_byte(reader, ','));
    return take_byte(reader, '}');
}

static bool take_value(struct reader *reader, struct value *value, size_t depth)
{
    switch (*reader->at) {
    case '"':
        value->kind = VALUE_STRING;
        return take_string(reader, &value->string);
    case '{':
        return take_members(reader, value, depth);
    case '[':
        return take_items(reader, value, depth);
    case 'n':
        return take_word(reader, "null"); /* which it is */
    case 't':
        value->kind = VALUE_BOOLEAN;
        value->boolean = true;
        return take_word(reader, "true");
    case 'f':
        value->kind = VALUE_BOOLEAN;
        return take_word(reader, "false");
    default:
        return take_number(reader, value);
    }
}

static bool keeps_limits(struct reader *reader, size_t depth)
{
    bool many = ++reader->nodes > reader->limits->nodes;
    if (!many && depth <= reader->limits->depth)
        return true;
    error_set(reader->error, "%s:%u:%u: %s %zu %s", reader->name, reader->line, column_of(reader),
              many ? "more than" : "nested more than",
              many ? reader->limits->nodes : reader->limits->depth,
              many ? "values; a file may hold at most that many"
                   : "deep; a file may nest at most that deep");
    return false;
}

/* Read a value, and the white space around it. */
static struct value *read_value(struct reader *reader, size_t depth)
{
    skip_space(reader);
    if (reader->at >= reader->end || !keeps_limits(reader, depth))
        return NULL;
    struct value *value = value_null(reader->arena);
    value->line = reader->line;
    value->column = column_of(reader);
    if (!take_value(reader, value, depth))
        return NULL;
    skip_space(reader);
    return value;
}

struct value *json_direct_read(struct arena *arena, struct text source, const char *name,
                               const struct yaml_limits *limits, const char *const *unread,
                               struct error *error)
{
    struct reader reader = {.arena = arena,
                            .at = source.data,
                            .end = source.data + source.length,
                            .line_start = source.data,
                            .line = 1,
                            .name = name,
                            .limits = limits,
                            .unread = unread,
                            .error = error};
    if (unread)
        note_unread(&reader);
    struct value *value = read_value(&reader, 1);
    return value && reader.at == reader.end ? value : NULL;
}
