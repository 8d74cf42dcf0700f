/* base/json.c - JSON text to value trees and back
 *
 * jansson decides what is JSON.  A second walk over the text, which is then known to be
 * well-formed, gives each value and key its line and column: jansson keeps members in the order
 * of the text and was told to refuse duplicates, so tree and text are walked side by side.
 */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

struct converter {
    struct arena *arena;
    const char *name;
    struct text source;
    const struct yaml_limits *limits;
    size_t nodes; /* keys and values, as base/yaml.c counts */
    size_t values;
    struct error *error;
};

static struct value *fail_at_value(struct converter *converter, const char *what, size_t limit,
                                   const char *rule);

/* Convert a jansson tree; NULL and a sentence when a limit is exceeded. */
static struct value *convert_value(struct converter *converter, json_t *json, size_t depth)
{
    struct arena *arena = converter->arena;
    converter->values++;
    if (++converter->nodes > converter->limits->nodes)
        return fail_at_value(converter, "more than", converter->limits->nodes,
                             "values; a file may hold at most that many");
    if (depth > converter->limits->depth)
        return fail_at_value(converter, "nested more than", converter->limits->depth,
                             "deep; a file may nest at most that deep");
    switch (json_typeof(json)) {
    case JSON_NULL:
        return value_null(arena);
    case JSON_TRUE:
        return value_boolean(arena, true);
    case JSON_FALSE:
        return value_boolean(arena, false);
    case JSON_INTEGER:
        return value_number(arena, (double)json_integer_value(json));
    case JSON_REAL:
        return value_number(arena, json_real_value(json));
    case JSON_STRING:
        return value_text(arena,
                          arena_text(arena, json_string_value(json), json_string_length(json)));
    case JSON_ARRAY: {
        struct value *list = value_list(arena);
        for (size_t i = 0; i < json_array_size(json); i++) {
            struct value *item = convert_value(converter, json_array_get(json, i), depth + 1);
            if (!item)
                return NULL;
            value_append(arena, list, item);
        }
        return list;
    }
    case JSON_OBJECT: {
        struct value *object = value_object(arena);
        const char *key;
        json_t *child;
        json_object_foreach(json, key, child)
        {
            converter->nodes++;
            struct value *value = convert_value(converter, child, depth + 1);
            if (!value)
                return NULL;
            value_add(arena, object, arena_text(arena, key, strlen(key)), value);
        }
        return object;
    }
    }
    error_set(converter->error, "%s: a value of no known kind", converter->name);
    return NULL;
}

/* The walk for positions: the text is well-formed, so each step may trust what it expects. */
struct cursor {
    struct arena *arena;
    const char *at, *end;
    const char *counted; /* the byte up to which `column` has been counted */
    uint32_t line, column;
};

static struct cursor cursor_at_start(struct text source)
{
    return (struct cursor){.at = source.data,
                           .end = source.data + source.length,
                           .counted = source.data,
                           .line = 1,
                           .column = 1};
}

static void skip_space(struct cursor *cursor)
{
    for (; cursor->at < cursor->end; cursor->at++) {
        if (*cursor->at == '\n') {
            cursor->line++;
            cursor->counted = cursor->at + 1;
            cursor->column = 1;
        } else if (*cursor->at != ' ' && *cursor->at != '\t' && *cursor->at != '\r') {
            return;
        }
    }
}

/* The column in characters from 1, as in libyaml; each byte of a line is counted only once. */
static uint32_t column_of(struct cursor *cursor)
{
    for (; cursor->counted < cursor->at; cursor->counted++)
        cursor->column += ((unsigned char)*cursor->counted & 0xc0) != 0x80;
    return cursor->column;
}

static void skip_string(struct cursor *cursor)
{
    cursor->at++;
    while (cursor->at < cursor->end && *cursor->at != '"')
        cursor->at += *cursor->at == '\\' && cursor->at + 1 < cursor->end ? 2 : 1;
    if (cursor->at < cursor->end)
        cursor->at++;
}

static void skip_past(struct cursor *cursor, char byte)
{
    skip_space(cursor);
    if (cursor->at < cursor->end && *cursor->at == byte)
        cursor->at++;
    skip_space(cursor);
}

/* Set the line and column of each value by a second walk over the text, which is known to be
 * valid JSON. */
static void place_value(struct cursor *cursor, struct value *value)
{
    skip_space(cursor);
    value->line = cursor->line;
    value->column = column_of(cursor);
    const char *start = cursor->at;
    switch (value->kind) {
    case VALUE_STRING:
        skip_string(cursor);
        break;
    case VALUE_LIST:
        skip_past(cursor, '[');
        for (size_t i = 0; i < value->list.count; i++) {
            place_value(cursor, value->list.items[i]);
            skip_past(cursor, ',');
        }
        skip_past(cursor, ']');
        break;
    case VALUE_OBJECT:
        skip_past(cursor, '{');
        for (size_t i = 0; i < value->object.count; i++) {
            struct member *member = &value->object.members[i];
            member->line = cursor->line;
            member->column = column_of(cursor);
            skip_string(cursor);
            skip_past(cursor, ':');
            place_value(cursor, member->value);
            skip_past(cursor, ',');
        }
        skip_past(cursor, '}');
        break;
    default:
        while (cursor->at < cursor->end && !memchr(",]} \t\r\n", *cursor->at, 7))
            cursor->at++;
        if (value->kind == VALUE_NUMBER)
            value->written = arena_text(cursor->arena, start, (size_t)(cursor->at - start));
        break;
    }
}

/* Move to the `nth` value, from 1, in the order of the text. */
static void find_value(struct cursor *cursor, size_t nth)
{
    for (;;) {
        skip_space(cursor);
        if (cursor->at >= cursor->end)
            return;
        const char *start = cursor->at;
        if (*start == ',' || *start == ':' || *start == ']' || *start == '}') {
            cursor->at++;
            continue;
        }
        struct cursor after = *cursor;
        if (*start == '"')
            skip_string(&after);
        else if (*start == '[' || *start == '{')
            after.at++;
        else
            while (after.at < after.end && !memchr(",]} \t\r\n", *after.at, 7))
                after.at++;
        struct cursor next = after;
        skip_space(&next);
        bool key = *start == '"' && next.at < next.end && *next.at == ':';
        if (!key && --nth == 0)
            return;
        cursor->at = after.at;
    }
}

/* Report an exceeded limit at the value that was counted last. */
static struct value *fail_at_value(struct converter *converter, const char *what, size_t limit,
                                   const char *rule)
{
    struct cursor cursor = cursor_at_start(converter->source);
    find_value(&cursor, converter->values);
    error_set(converter->error, "%s:%u:%u: %s %zu %s", converter->name, cursor.line,
              column_of(&cursor), what, limit, rule);
    return NULL;
}

/* jansson builds its whole tree before ours is counted, and that tree is fifty times as large as
 * the text of a list of digits.  Commas outside strings are fewer than values: count them first. */
static int check_commas(struct text source, const char *name, size_t limit, struct error *error)
{
    struct cursor cursor = cursor_at_start(source);
    size_t commas = 0;
    while (cursor.at < cursor.end) {
        if (*cursor.at == '"') {
            skip_string(&cursor);
            continue;
        }
        if (*cursor.at == ',' && ++commas >= limit)
            return error_set(error,
                             "%s:%u:%u: more than %zu values; a file may hold at most that "
                             "many",
                             name, cursor.line, column_of(&cursor), limit);
        if (*cursor.at == '\n') {
            cursor.line++;
            cursor.counted = cursor.at + 1;
            cursor.column = 1;
        }
        cursor.at++;
    }
    return 0;
}

struct value *json_read(struct arena *arena, struct text source, const char *name,
                        const struct yaml_limits *limits, struct error *error)
{
    if (source.length > limits->bytes) {
        error_set(error, "%s: %zu bytes; at most %zu are read", name, source.length, limits->bytes);
        return NULL;
    }
    if (!source.data)
        source = TEXT("");
    if (check_commas(source, name, limits->nodes, error))
        return NULL;
    json_error_t problem;
    json_t *json = json_loadb(source.data, source.length,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL |
                                  JSON_ALLOW_NUL,
                              &problem);
    if (!json) {
        struct error_quote_buffer buffer;
        error_set(error, "%s:%d:%d: not well-formed JSON: %s", name, problem.line,
                  problem.column > 0 ? problem.column : 1,
                  error_quote(&buffer, problem.text, strlen(problem.text)));
        return NULL;
    }
    struct converter converter = {
        .arena = arena, .name = name, .source = source, .limits = limits, .error = error};
    struct value *value = convert_value(&converter, json, 1);
    json_decref(json);
    if (value) {
        struct cursor cursor = cursor_at_start(source);
        cursor.arena = arena;
        place_value(&cursor, value);
    }
    return value;
}

/* A string in quotes, with what JSON does not allow in it escaped. */
static void write_string(struct buffer *out, struct text t)
{
    static const char digits[] = "0123456789abcdef";
    buffer_add_byte(out, '"');
    size_t plain = 0; /* start of the run that needs no escape */
    for (size_t i = 0; i < t.length; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buffer_add(out, t.data + plain, i - plain);
        plain = i + 1;
        char escape = c == '"' || c == '\\' ? (char)c
                      : c == '\n'           ? 'n'
                      : c == '\t'           ? 't'
                      : c == '\r'           ? 'r'
                      : c == '\b'           ? 'b'
                      : c == '\f'           ? 'f'
                                            : 'u';
        buffer_add_byte(out, '\\');
        buffer_add_byte(out, escape);
        if (escape == 'u') {
            char hex[4] = {'0', '0', digits[c >> 4], digits[c & 15]};
            buffer_add(out, hex, sizeof(hex));
        }
    }
    buffer_add(out, t.data + plain, t.length - plain);
    buffer_add_byte(out, '"');
}

static int write_object(struct buffer *out, const struct value *object, bool sorted,
                        struct error *error)
{
    struct arena *arena = sorted ? arena_new() : NULL;
    size_t *order = sorted ? value_sorted(arena, object) : NULL;
    int result = 0;
    buffer_add_byte(out, '{');
    for (size_t i = 0; i < object->object.count && !result; i++) {
        const struct member *member = &object->object.members[order ? order[i] : i];
        if (i)
            buffer_add_byte(out, ',');
        write_string(out, member->key);
        buffer_add_byte(out, ':');
        result = json_write(out, member->value, sorted, error);
    }
    buffer_add_byte(out, '}');
    arena_free(arena);
    return result;
}

int json_write(struct buffer *out, const struct value *value, bool sorted, struct error *error)
{
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_NULL:
        buffer_add_string(out, "null");
        return 0;
    case VALUE_BOOLEAN:
        buffer_add_string(out, value->boolean ? "true" : "false");
        return 0;
    case VALUE_NUMBER:
        if (!isfinite(value->number))
            return error_set(error, "JSON could not be written: a number is not finite");
        buffer_add(out, number, value_format_number(value->number, number));
        return 0;
    case VALUE_STRING:
        write_string(out, value->string);
        return 0;
    case VALUE_FUNCTION:
        return error_set(error, "JSON could not be written: a function is not a value");
    case VALUE_LIST:
        buffer_add_byte(out, '[');
        for (size_t i = 0; i < value->list.count; i++) {
            if (i)
                buffer_add_byte(out, ',');
            if (json_write(out, value->list.items[i], sorted, error))
                return -1;
        }
        buffer_add_byte(out, ']');
        return 0;
    case VALUE_OBJECT:
        return write_object(out, value, sorted, error);
    }
    return error_set(error, "JSON could not be written: a value of no known kind");
}

struct text json_text(struct arena *arena, const struct value *value)
{
    struct buffer out = {0};
    if (json_write(&out, value, false, NULL))
        buffer_clear(&out);
    return arena_take(arena, &out);
}
