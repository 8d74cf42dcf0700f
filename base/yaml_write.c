/* base/yaml_write.c - value trees to YAML text
 *
 * Every string is written in double quotes, so that no reader of any YAML version takes one for
 * something else; keys stay plain only where that is as safe.  The bytes are those of libyaml's emitter (unicode,
 * no width), by which they were written before this was: an old manifest, made again, is the same.
 */
#include "base/yaml.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

enum {
    INDENT = 2,
    LONGEST_SIMPLE_KEY = 128 /* bytes; a longer key is written behind a question mark */
};

struct writer {
    struct buffer *out;
    struct error *error;
};

/* Does some YAML reader take this word, in any case, for something else than a string? */
static bool is_reserved(struct text word)
{
    static const char *const reserved[] = {"y",    "n",     "yes",  "no",  "on", "off",
                                           "true", "false", "null", "nan", "inf"};
    if (word.length > sizeof("false") - 1 || !strchr("yYnNoOtTfFiI", word.data[0]))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(reserved); i++)
        if (strncasecmp(word.data, reserved[i], word.length) == 0 && !reserved[i][word.length])
            return true;
    return false;
}

bool yaml_key_is_plain(struct text key)
{
    if (key.length == 0 || key.length > 60)
        return false;
    for (size_t i = 0; i < key.length; i++) {
        char c = key.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool later = (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
        if (!letter && !(later && i > 0))
            return false;
    }
    return !is_reserved(key);
}

/* What stands for the character after a backslash; 0: its number. */
static char escape_letter(uint32_t code)
{
    switch (code) {
    case 0:
        return '0';
    case '\a':
        return 'a';
    case '\b':
        return 'b';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\v':
        return 'v';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    case 0x1b:
        return 'e';
    case '"':
        return '"';
    case '\\':
        return '\\';
    case 0x85:
        return 'N';
    case 0x2028:
        return 'L';
    case 0x2029:
        return 'P';
    default:
        return 0;
    }
}

static void write_escape(struct buffer *out, uint32_t code)
{
    char letter = escape_letter(code);
    buffer_add_byte(out, '\\');
    if (letter)
        buffer_add_byte(out, letter);
    else if (code <= 0xff)
        buffer_printf(out, "x%02X", code);
    else if (code <= 0xffff)
        buffer_printf(out, "u%04X", code);
    else
        buffer_printf(out, "U%08X", code);
}

static bool is_plain_byte(char byte)
{
    return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Does a character beyond ASCII, or of its controls, stand for itself?  Not one that ends a line somewhere, nor what
 * YAML 1.1 or libyaml call unprintable. */
static bool stands_for_itself(uint32_t code)
{
    return code >= 0xa0 && code < 0xfffe && code != 0x2028 && code != 0x2029 && code != 0xfeff;
}

static int write_quoted(struct writer *writer, struct text string)
{
    struct buffer *out = writer->out;
    const char *at = string.data, *end = at + string.length;
    buffer_add_byte(out, '"');
    while (at < end) {
        const char *from = at;
        while (at < end && is_plain_byte(*at))
            at++;
        buffer_add(out, from, (size_t)(at - from));
        if (at == end)
            break;
        size_t bytes = utf8_sequence(at, (size_t)(end - at));
        if (!bytes)
            return error_set(writer->error, "YAML could not be written: a string is not UTF-8");
        uint32_t code = utf8_code_point(at, bytes);
        if (stands_for_itself(code))
            buffer_add(out, at, bytes);
        else
            write_escape(out, code);
        at += bytes;
    }
    buffer_add_byte(out, '"');
    return 0;
}

/* Begin an entry of a collection: on a line of its own, with its indent, or behind the mark before it. */
static void begin_entry(struct writer *writer, size_t indent, bool new_line)
{
    if (!new_line)
        return;
    buffer_add_byte(writer->out, '\n');
    memset(buffer_reserve(writer->out, indent), ' ', indent);
    writer->out->length += indent;
}

/* What a value stands behind. */
enum place { AT_START, BEHIND_KEY, BEHIND_MARK };

static int write_value(struct writer *writer, const struct value *value, size_t indent,
                       enum place place);

/* Items behind a key are not indented further than it. */
static int write_list(struct writer *writer, const struct value *list, size_t indent,
                      enum place place)
{
    for (size_t i = 0; i < list->list.count; i++) {
        begin_entry(writer, indent, i > 0 || place == BEHIND_KEY);
        buffer_add_byte(writer->out, '-');
        if (write_value(writer, list->list.items[i], indent, BEHIND_MARK))
            return -1;
    }
    return 0;
}

/* Can a key stand before its colon on one line?  Not one with what ends a line somewhere. */
static bool is_simple_key(struct text key)
{
    return key.length <= LONGEST_SIMPLE_KEY && !text_contains(key, TEXT("\n")) &&
           !text_contains(key, TEXT("\r")) && !text_contains(key, TEXT("\xc2\x85")) &&
           !text_contains(key, TEXT("\xe2\x80\xa8")) && !text_contains(key, TEXT("\xe2\x80\xa9"));
}

static int write_member(struct writer *writer, const struct member *member, size_t indent)
{
    struct text key = member->key;
    if (yaml_key_is_plain(key)) {
        buffer_add_text(writer->out, key);
    } else if (is_simple_key(key)) {
        if (write_quoted(writer, key))
            return -1;
    } else {
        buffer_add_string(writer->out, "? ");
        if (write_quoted(writer, key))
            return -1;
        begin_entry(writer, indent, true);
        buffer_add_byte(writer->out, ':');
        return write_value(writer, member->value, indent, BEHIND_MARK);
    }
    buffer_add_byte(writer->out, ':');
    return write_value(writer, member->value, indent, BEHIND_KEY);
}

static int write_object(struct writer *writer, const struct value *object, size_t indent,
                        enum place place)
{
    for (size_t i = 0; i < object->object.count; i++) {
        begin_entry(writer, indent, i > 0 || place == BEHIND_KEY);
        if (write_member(writer, &object->object.members[i], indent))
            return -1;
    }
    return 0;
}

/* Write a collection that has entries. */
static int write_collection(struct writer *writer, const struct value *value, size_t indent,
                            enum place place)
{
    if (place == BEHIND_MARK)
        buffer_add_byte(writer->out, ' ');
    if (value->kind == VALUE_LIST)
        return write_list(writer, value, place == BEHIND_MARK ? indent + INDENT : indent, place);
    return write_object(writer, value, place == AT_START ? indent : indent + INDENT, place);
}

/* Write a value with all below it.  Fails for numbers that are not finite, and for functions. */
static int write_value(struct writer *writer, const struct value *value, size_t indent,
                       enum place place)
{
    char number[NUMBER_TEXT_SIZE];
    bool list = value->kind == VALUE_LIST, object = value->kind == VALUE_OBJECT;
    if ((list && value->list.count) || (object && value->object.count))
        return write_collection(writer, value, indent, place);
    if (place != AT_START)
        buffer_add_byte(writer->out, ' ');
    switch (value->kind) {
    case VALUE_NULL:
        buffer_add_string(writer->out, "null");
        return 0;
    case VALUE_BOOLEAN:
        buffer_add_string(writer->out, value->boolean ? "true" : "false");
        return 0;
    case VALUE_NUMBER:
        if (!isfinite(value->number))
            return error_set(writer->error, "YAML could not be written: a number is not finite");
        buffer_add(writer->out, number, value_format_number(value->number, number));
        return 0;
    case VALUE_STRING:
        return write_quoted(writer, value->string);
    case VALUE_LIST:
        buffer_add_string(writer->out, "[]");
        return 0;
    case VALUE_OBJECT:
        buffer_add_string(writer->out, "{}");
        return 0;
    case VALUE_FUNCTION:
        return error_set(writer->error, "YAML could not be written: a function is not a value");
    }
    return error_set(writer->error, "YAML could not be written: a value of no known kind");
}

int yaml_write(struct buffer *out, const struct value *value, struct error *error)
{
    struct writer writer = {out, error};
    if (write_value(&writer, value, 0, AT_START))
        return -1;
    buffer_add_byte(out, '\n');
    return 0;
}
