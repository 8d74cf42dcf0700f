/* base/json.c - JSON text to value trees and back */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json_direct.h"
#include "base/json_step.h"

/* Say what is wrong with text that is not JSON.  jansson, whose words these are, reads no further than
 * json_direct_read() did; it passes over a NUL behind a number. */
static void explain(struct text source, const char *name, struct error *error)
{
    json_error_t problem = {.line = 1, .column = 1, .text = "NUL byte"};
    struct error_quote_buffer buffer;
    json_decref(json_loadb(source.data, source.length,
                           JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL |
                               JSON_ALLOW_NUL,
                           &problem));
    error_set(error, "%s:%d:%d: not well-formed JSON: %s", name, problem.line,
              problem.column > 0 ? problem.column : 1,
              error_quote(&buffer, problem.text, strlen(problem.text)));
}

struct value *json_read(struct arena *arena, struct text source, const char *name,
                        const struct yaml_limits *limits, struct error *error)
{
    return json_read_without(arena, source, name, NULL, limits, error);
}

struct value *json_read_without(struct arena *arena, struct text source, const char *name,
                                const char *const *unread, const struct yaml_limits *limits,
                                struct error *error)
{
    struct error limit;
    limit.text[0] = '\0';
    if (source.length > limits->bytes) {
        error_set(error, "%s: %zu bytes; at most %zu are read", name, source.length, limits->bytes);
        return NULL;
    }
    if (!source.data)
        source = TEXT("");
    struct value *value = json_direct_read(arena, source, name, limits, unread, &limit);
    if (!value && limit.text[0])
        error_set(error, "%s", limit.text);
    else if (!value)
        explain(unread ? json_step_without(arena, source, unread) : source, name, error);
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
