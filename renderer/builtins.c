/* renderer/builtins.c - the functions that every template may call
 *
 * Arguments are checked against a table, with JSON-e's words for what does not fit.
 *
 * Stricter than JSON-e's JavaScript: number() of a text that is no number is an error and not NaN,
 * join() refuses lists and objects instead of writing "[object Object]", range() refuses a step of
 * 0, and too many arguments are always an error.
 */
#include "renderer/interpreter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "renderer/letters.h"

enum {
    TYPE_STRING = 1 << VALUE_STRING,
    TYPE_NUMBER = 1 << VALUE_NUMBER,
    TYPE_BOOLEAN = 1 << VALUE_BOOLEAN,
    TYPE_LIST = 1 << VALUE_LIST,
    TYPE_OBJECT = 1 << VALUE_OBJECT,
    TYPE_NULL = 1 << VALUE_NULL,
    TYPE_FUNCTION = 1 << VALUE_FUNCTION,
    TYPE_WHOLE = 1 << 10,               /* a number without a fraction */
    TYPE_SCALAR = TYPE_STRING | TYPE_NUMBER | TYPE_BOOLEAN | TYPE_NULL,
    TYPE_ANY = TYPE_SCALAR | TYPE_LIST | TYPE_OBJECT | TYPE_FUNCTION
};

enum { ANY_COUNT = 1 << 20 };

struct builtin {
    const char *name;
    struct value *(*call)(struct interpreter *self, struct value **arguments, size_t count);
    size_t least, most;
    int types[3];               /* of the arguments; the last one for all that follow */
    bool says_least;            /* too few arguments are told how many are needed */
};

/* Numbers */

static struct value *call_max(struct interpreter *self, struct value **arguments, size_t count)
{
    double most = arguments[0]->number;
    for (size_t i = 1; i < count; i++)
        if (arguments[i]->number > most || isnan(arguments[i]->number))
            most = arguments[i]->number;
    return make_number(self, most);
}

static struct value *call_min(struct interpreter *self, struct value **arguments, size_t count)
{
    double least = arguments[0]->number;
    for (size_t i = 1; i < count; i++)
        if (arguments[i]->number < least || isnan(arguments[i]->number))
            least = arguments[i]->number;
    return make_number(self, least);
}

static struct value *call_sqrt(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_number(self, sqrt(arguments[0]->number));
}

static struct value *call_ceil(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_number(self, ceil(arguments[0]->number));
}

static struct value *call_floor(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_number(self, floor(arguments[0]->number));
}

static struct value *call_abs(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_number(self, fabs(arguments[0]->number));
}

static struct value *call_range(struct interpreter *self, struct value **arguments, size_t count)
{
    double start = arguments[0]->number, stop = arguments[1]->number;
    double step = count > 2 ? arguments[2]->number : 1;
    if (step == 0)
        return interpreter_raise(self, BUILTIN_ERROR,
                                 "invalid arguments to builtin: range: the step is 0");
    double length = ceil((stop - start) / step);
    if (!(length > 0))
        return make_list(self, 0);
    /* A number far beyond every limit stands for the lengths that size_t cannot hold. */
    size_t items = length > 1e15 ? (size_t)1e15 : (size_t)length;
    if (!interpreter_steps(self, items) || !interpreter_room(self, items * sizeof(struct value)))
        return NULL;
    struct value *list = make_list(self, items);
    for (size_t i = 0; list && i < items; i++)
        value_append(self->arena, list, value_number(self->arena, start + (double)i * step));
    return list;
}

/* Texts */

static struct value *call_lowercase(struct interpreter *self, struct value **arguments,
                                    size_t count)
{
    (void)count;
    return letters_change(self, arguments[0]->string, false);
}

static struct value *call_uppercase(struct interpreter *self, struct value **arguments,
                                    size_t count)
{
    (void)count;
    return letters_change(self, arguments[0]->string, true);
}

static struct value *call_str(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    if (arguments[0]->kind == VALUE_STRING)
        return arguments[0];
    if (arguments[0]->kind == VALUE_NULL)
        return make_text(self, "null", 4);
    struct text text;
    if (!scalar_text(self, arguments[0], &text))
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
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
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
    while ((space = space_length(text.data, text.length))) {
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
        if (space_length(text.data + start, text.length - start) != text.length - start)
            break;
        text.length = start;
    }
    return text;
}

static struct value *call_number(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    struct text text = strip_right(strip_left(arguments[0]->string));
    double number;
    if (!interpreter_bytes(self, arguments[0]->string.length))
        return NULL;
    if (is_decimal(text)) {
        struct value *copy = make_text(self, text.data, text.length);
        return copy ? make_number(self, strtod(copy->string.data, NULL)) : NULL;
    }
    if (read_with_base(text, &number))
        return make_number(self, number);
    struct error_quote_room room;
    return interpreter_raise(self, BUILTIN_ERROR,
                             "invalid arguments to builtin: number: \"%s\" is not a number",
                             error_quote(&room, text.data, text.length));
}

static struct value *call_len(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    const struct value *value = arguments[0];
    if (value->kind == VALUE_LIST)
        return make_number(self, (double)value->list.count);
    if (!interpreter_bytes(self, value->string.length))
        return NULL;
    size_t characters = 0;
    for (size_t i = 0; i < value->string.length; i++)
        characters += ((unsigned char)value->string.data[i] & 0xc0) != 0x80;
    return make_number(self, (double)characters);
}

static struct value *make_stripped(struct interpreter *self, struct text before, struct text after)
{
    return interpreter_bytes(self, before.length) ? make_text(self, after.data, after.length)
                                                  : NULL;
}

static struct value *call_strip(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    struct text text = arguments[0]->string;
    return make_stripped(self, text, strip_right(strip_left(text)));
}

static struct value *call_lstrip(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_stripped(self, arguments[0]->string, strip_left(arguments[0]->string));
}

static struct value *call_rstrip(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_stripped(self, arguments[0]->string, strip_right(arguments[0]->string));
}

static bool append_piece(struct interpreter *self, struct value *list, const char *bytes,
                         size_t length)
{
    if (!interpreter_steps(self, 1))
        return false;
    struct value *piece = make_text(self, bytes, length);
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

static struct value *call_split(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    struct text rest = arguments[0]->string, separator;
    struct value *list = make_list(self, 0);
    if (!list || !scalar_text(self, arguments[1], &separator) ||
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
static bool collect_texts(struct interpreter *self, const struct value *list,
                          struct text *texts, size_t *length)
{
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        if (!(1 << item->kind & TYPE_SCALAR)) {
            interpreter_raise(self, BUILTIN_ERROR,
                              "invalid arguments to builtin: join: item %zu of the list is a%s %s",
                              i, item->kind == VALUE_OBJECT ? "n" : "",
                              value_kind_name(item->kind));
            return false;
        }
        if (!interpreter_steps(self, 1) || !scalar_text(self, item, &texts[i]))
            return false;
        *length += texts[i].length;
    }
    return true;
}

static struct value *call_join(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    const struct value *list = arguments[0];
    size_t items = list->list.count, length = 0;
    struct text separator;
    if (items == 0)
        return make_text(self, "", 0);
    if (!scalar_text(self, arguments[1], &separator) ||
        !interpreter_room(self, items * sizeof(struct text)))
        return NULL;
    struct text *texts = arena_allocate(self->arena, items * sizeof(struct text));
    if (!collect_texts(self, list, texts, &length))
        return NULL;
    /* Lengths are of texts that exist, so their sum does not overflow; a product might. */
    if (separator.length && items > self->limits.bytes / separator.length)
        length = self->limits.bytes;
    else
        length += separator.length * (items - 1);
    if (!interpreter_bytes(self, length) ||
        !interpreter_room(self, length + 1 + sizeof(struct value)))
        return NULL;
    char *bytes = arena_allocate(self->arena, length + 1), *to = bytes;
    for (size_t i = 0; i < items; i++) {
        if (i)
            to = mempcpy(to, separator.data, separator.length);
        to = mempcpy(to, texts[i].data, texts[i].length);
    }
    return value_text(self->arena, (struct text){bytes, length});
}

/* The rest */

static struct value *call_from_now(struct interpreter *self, struct value **arguments,
                                   size_t count)
{
    bool given = count > 1 && arguments[1]->string.length > 0;
    return from_now(self, arguments[0]->string,
                    given ? arguments[1] : interpreter_find(self, TEXT("now")));
}

static struct value *call_typeof(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    const char *name = arguments[0]->kind == VALUE_LIST ? "array"
                                                        : value_kind_name(arguments[0]->kind);
    return make_text(self, name, strlen(name));
}

static struct value *call_defined(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return make_boolean(self, interpreter_find(self, arguments[0]->string) != NULL);
}

static const struct builtin builtins[] = {
    {"max", call_max, 1, ANY_COUNT, {TYPE_NUMBER}, true},
    {"min", call_min, 1, ANY_COUNT, {TYPE_NUMBER}, true},
    {"sqrt", call_sqrt, 1, 1, {TYPE_NUMBER}, false},
    {"ceil", call_ceil, 1, 1, {TYPE_NUMBER}, false},
    {"floor", call_floor, 1, 1, {TYPE_NUMBER}, false},
    {"abs", call_abs, 1, 1, {TYPE_NUMBER}, false},
    {"range", call_range, 2, 3, {TYPE_WHOLE}, true},
    {"lowercase", call_lowercase, 1, 1, {TYPE_STRING}, false},
    {"uppercase", call_uppercase, 1, 1, {TYPE_STRING}, false},
    {"str", call_str, 1, 1, {TYPE_SCALAR}, false},
    {"number", call_number, 1, 1, {TYPE_STRING}, false},
    {"len", call_len, 1, 1, {TYPE_STRING | TYPE_LIST}, false},
    {"strip", call_strip, 1, 1, {TYPE_STRING}, false},
    {"rstrip", call_rstrip, 1, 1, {TYPE_STRING}, false},
    {"lstrip", call_lstrip, 1, 1, {TYPE_STRING}, false},
    {"split", call_split, 2, 2, {TYPE_STRING, TYPE_STRING | TYPE_NUMBER}, false},
    {"join", call_join, 2, 2, {TYPE_LIST, TYPE_STRING | TYPE_NUMBER}, false},
    {"fromNow", call_from_now, 1, 2, {TYPE_STRING}, true},
    {"typeof", call_typeof, 1, 1, {TYPE_ANY}, false},
    {"defined", call_defined, 1, 1, {TYPE_STRING}, false},
};

enum { BUILTINS = sizeof(builtins) / sizeof(builtins[0]) };

/* The same as values.  They are shared by all renderings and never changed. */
#define FUNCTION(at) {.builtin = &builtins[at]}
static const struct function functions[BUILTINS] = {
    FUNCTION(0),  FUNCTION(1),  FUNCTION(2),  FUNCTION(3),  FUNCTION(4),
    FUNCTION(5),  FUNCTION(6),  FUNCTION(7),  FUNCTION(8),  FUNCTION(9),
    FUNCTION(10), FUNCTION(11), FUNCTION(12), FUNCTION(13), FUNCTION(14),
    FUNCTION(15), FUNCTION(16), FUNCTION(17), FUNCTION(18), FUNCTION(19),
};
#undef FUNCTION
_Static_assert(BUILTINS == 20, "as many function values as built-in functions");

struct value *builtin_find(struct interpreter *self, struct text name)
{
    for (size_t i = 0; i < BUILTINS; i++) {
        if (!text_is(name, builtins[i].name))
            continue;
        struct value *value = value_null(self->arena);
        value->kind = VALUE_FUNCTION;
        value->function = &functions[i];
        return value;
    }
    return NULL;
}

static bool fits(const struct value *value, int type)
{
    if (type == TYPE_WHOLE)
        return value->kind == VALUE_NUMBER && is_whole(value->number);
    return type & 1 << value->kind;
}

static struct value *call_builtin(struct interpreter *self, const struct builtin *builtin,
                                  struct value **arguments, size_t count)
{
    if (count < builtin->least && builtin->says_least)
        return interpreter_raise(self, BUILTIN_ERROR,
                                 "invalid arguments to builtin: %s: expected at least %zu "
                                 "arguments",
                                 builtin->name, builtin->least);
    bool good = count >= builtin->least && count <= builtin->most;
    int type = 0;
    for (size_t i = 0; good && i < count; i++) {
        if (i < 3 && builtin->types[i])
            type = builtin->types[i];
        good = fits(arguments[i], type);
    }
    if (!good)
        return interpreter_raise(self, BUILTIN_ERROR, "invalid arguments to builtin: %s",
                                 builtin->name);
    return builtin->call(self, arguments, count);
}

struct value *function_call(struct interpreter *self, const struct function *function,
                            struct value **arguments, size_t count)
{
    if (function->builtin)
        return call_builtin(self, function->builtin, arguments, count);
    struct error reason = {""};
    struct value *value = function->given->call(self->arena, arguments, count, &reason);
    if (!value)
        return interpreter_raise(self, BUILTIN_ERROR, "%s", reason.text);
    return interpreter_room(self, 0) ? value : NULL;
}
