/* renderer/jsone/builtins_text.c - the built-in functions on texts
 *
 * Lengths, pieces and positions are in code points.  White space is ECMAScript's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "renderer/jsone/builtins.h"
#include "renderer/jsone/letters.h"

struct value *builtin_lowercase(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return letters_change(self, arguments[0]->string, false);
}

struct value *builtin_uppercase(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return letters_change(self, arguments[0]->string, true);
}

struct value *builtin_str(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    if (arguments[0]->kind == VALUE_STRING)
        return arguments[0];
    if (arguments[0]->kind == VALUE_NULL)
        return interpreter_text(self, "null", 4);
    struct text text;
    if (!interpreter_scalar_text(self, arguments[0], &text))
        return NULL;
    return value_text(self->arena, text);
}

static size_t skip_digits(struct text text, size_t at)
{
    while (at < text.length && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at;
}

static size_t skip_sign(struct text text, size_t at)
{
    return at + (at < text.length && (text.data[at] == '+' || text.data[at] == '-'));
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. */
static bool is_decimal(struct text text)
{
    size_t start = skip_sign(text, 0);
    size_t at = skip_digits(text, start);
    size_t digits = at - start;
    if (at < text.length && text.data[at] == '.') {
        size_t end = skip_digits(text, at + 1);
        digits += end - at - 1;
        at = end;
    }
    if (digits && at < text.length && (text.data[at] == 'e' || text.data[at] == 'E')) {
        size_t exponent = skip_sign(text, at + 1);
        at = skip_digits(text, exponent);
        digits = at - exponent;
    }
    return digits && at == text.length;
}

/* 0x, 0o or 0b and digits, as ECMAScript reads them. */
static bool read_with_base(struct text text, double *number)
{
    static const struct {
        char letter;
        double base;
        const char *digits;
    } bases[] = {{'x', 16, "0123456789abcdef"}, {'o', 8, "01234567"}, {'b', 2, "01"}};
    if (text.length < 3 || text.data[0] != '0')
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(bases); i++) {
        if ((text.data[1] | 0x20) != bases[i].letter)
            continue;
        *number = 0;
        for (size_t at = 2; at < text.length; at++) {
            char c = text.data[at] >= 'A' && text.data[at] <= 'F' ? (char)(text.data[at] + 32)
                                                                  : text.data[at];
            const char *digit = c ? strchr(bases[i].digits, c) : NULL;
            if (!digit)
                return false;
            *number = *number * bases[i].base + (double)(digit - bases[i].digits);
        }
        return true;
    }
    return false;
}

static struct text strip_left(struct text text)
{
    size_t space;
    while ((space = token_space_length(text.data, text.length))) {
        text.data += space;
        text.length -= space;
    }
    return text;
}

static struct text strip_right(struct text text)
{
    while (text.length) {
        size_t start = text.length - 1;
        while (start > 0 && ((unsigned char)text.data[start] & 0xc0) == 0x80)
            start--;
        if (token_space_length(text.data + start, text.length - start) != text.length - start)
            break;
        text.length = start;
    }
    return text;
}

struct value *builtin_number(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    struct text text = strip_right(strip_left(arguments[0]->string));
    double number;
    if (!interpreter_bytes(self, arguments[0]->string.length))
        return NULL;
    if (is_decimal(text)) {
        struct value *copy = interpreter_text(self, text.data, text.length);
        return copy ? interpreter_number(self, strtod(copy->string.data, NULL)) : NULL;
    }
    if (read_with_base(text, &number))
        return interpreter_number(self, number);
    struct error_quote_buffer buffer;
    return interpreter_raise(self, BUILTIN_ERROR,
                             "invalid arguments to builtin: number: \"%s\" is not a number",
                             error_quote(&buffer, text.data, text.length));
}

struct value *builtin_len(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    const struct value *value = arguments[0];
    if (value->kind == VALUE_LIST)
        return interpreter_number(self, (double)value->list.count);
    if (!interpreter_bytes(self, value->string.length))
        return NULL;
    size_t characters = 0;
    for (size_t i = 0; i < value->string.length; i++)
        characters += ((unsigned char)value->string.data[i] & 0xc0) != 0x80;
    return interpreter_number(self, (double)characters);
}

static struct value *make_stripped(struct interpreter *self, struct text before, struct text after)
{
    return interpreter_bytes(self, before.length) ? interpreter_text(self, after.data, after.length)
                                                  : NULL;
}

struct value *builtin_strip(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    struct text text = arguments[0]->string;
    return make_stripped(self, text, strip_right(strip_left(text)));
}

struct value *builtin_lstrip(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_stripped(self, arguments[0]->string, strip_left(arguments[0]->string));
}

struct value *builtin_rstrip(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_stripped(self, arguments[0]->string, strip_right(arguments[0]->string));
}

static bool append_piece(struct interpreter *self, struct value *list, const char *bytes,
                         size_t length)
{
    if (!interpreter_steps(self, 1))
        return false;
    struct value *piece = interpreter_text(self, bytes, length);
    if (piece)
        value_append(self->arena, list, piece);
    return piece != NULL;
}

static struct value *split_characters(struct interpreter *self, struct value *list,
                                      struct text text)
{
    for (size_t at = 0; at < text.length;) {
        size_t length = utf8_sequence(text.data + at, text.length - at);
        length = length ? length : 1;
        if (!append_piece(self, list, text.data + at, length))
            return NULL;
        at += length;
    }
    return list;
}

struct value *builtin_split(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    struct text rest = arguments[0]->string, separator;
    struct value *list = interpreter_list(self, 0);
    if (!list || !interpreter_scalar_text(self, arguments[1], &separator) ||
        !interpreter_bytes(self, rest.length))
        return NULL;
    if (separator.length == 0)
        return split_characters(self, list, rest);
    for (;;) {
        const char *found = memmem(rest.data, rest.length, separator.data, separator.length);
        size_t length = found ? (size_t)(found - rest.data) : rest.length;
        if (!append_piece(self, list, rest.data, length))
            return NULL;
        if (!found)
            return list;
        rest.data += length + separator.length;
        rest.length -= length + separator.length;
    }
}

/* The texts that join() puts together; false when one is not a text or a limit was hit. */
static bool collect_texts(struct interpreter *self, const struct value *list, struct text *texts,
                          size_t *length)
{
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        if (item->kind == VALUE_LIST || item->kind == VALUE_OBJECT ||
            item->kind == VALUE_FUNCTION) {
            interpreter_raise(self, BUILTIN_ERROR,
                              "invalid arguments to builtin: join: item %zu of the list is a%s %s",
                              i, item->kind == VALUE_OBJECT ? "n" : "",
                              value_kind_name(item->kind));
            return false;
        }
        if (!interpreter_steps(self, 1) || !interpreter_scalar_text(self, item, &texts[i]))
            return false;
        *length += texts[i].length;
    }
    return true;
}

struct value *builtin_join(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    const struct value *list = arguments[0];
    size_t items = list->list.count, length = 0;
    struct text separator;
    if (items == 0)
        return interpreter_text(self, "", 0);
    if (!interpreter_scalar_text(self, arguments[1], &separator) ||
        !interpreter_may_take(self, items * sizeof(struct text)))
        return NULL;
    struct text *texts = arena_allocate(self->arena, items * sizeof(struct text));
    if (!collect_texts(self, list, texts, &length))
        return NULL;
    /* The sum of the lengths of existing texts cannot overflow; a product might. */
    if (separator.length && items > self->limits.bytes / separator.length)
        length = self->limits.bytes;
    else
        length += separator.length * (items - 1);
    if (!interpreter_bytes(self, length) ||
        !interpreter_may_take(self, length + 1 + sizeof(struct value)))
        return NULL;
    char *bytes = arena_allocate(self->arena, length + 1), *to = bytes;
    for (size_t i = 0; i < items; i++) {
        if (i)
            to = mempcpy(to, separator.data, separator.length);
        to = mempcpy(to, texts[i].data, texts[i].length);
    }
    return value_text(self->arena, (struct text){bytes, length});
}
