/* renderer/jsone/builtins.c - the functions that every template may call
 *
 * Arguments are checked against a table; errors have JSON-e's words.
 *
 * Stricter than JSON-e's JavaScript: number() of a text that is no number is an error and not NaN,
 * join() refuses lists and objects instead of writing "[object Object]", range() refuses a step of
 * 0, and too many arguments are always an error.
 */
#include "renderer/jsone/builtins.h"

#include <math.h>
#include <string.h>

#include "renderer/jsone/from_now.h"

enum {
    TYPE_STRING = 1 << VALUE_STRING,
    TYPE_NUMBER = 1 << VALUE_NUMBER,
    TYPE_BOOLEAN = 1 << VALUE_BOOLEAN,
    TYPE_LIST = 1 << VALUE_LIST,
    TYPE_OBJECT = 1 << VALUE_OBJECT,
    TYPE_NULL = 1 << VALUE_NULL,
    TYPE_FUNCTION = 1 << VALUE_FUNCTION,
    TYPE_WHOLE = 1 << 10, /* a number without a fraction */
    TYPE_SCALAR = TYPE_STRING | TYPE_NUMBER | TYPE_BOOLEAN | TYPE_NULL,
    TYPE_ANY = TYPE_SCALAR | TYPE_LIST | TYPE_OBJECT | TYPE_FUNCTION
};

enum { ANY_COUNT = 1 << 20 };

struct builtin {
    const char *name;
    struct value *(*call)(struct interpreter *self, struct value **arguments, size_t count);
    size_t least, most;
    int types[3];    /* of the arguments; the last one is for all further ones */
    bool says_least; /* the error for too few arguments says how many are needed */
};

/* Numbers */

static struct value *builtin_max(struct interpreter *self, struct value **arguments, size_t count)
{
    double most = arguments[0]->number;
    for (size_t i = 1; i < count; i++)
        if (arguments[i]->number > most || isnan(arguments[i]->number))
            most = arguments[i]->number;
    return interpreter_number(self, most);
}

static struct value *builtin_min(struct interpreter *self, struct value **arguments, size_t count)
{
    double least = arguments[0]->number;
    for (size_t i = 1; i < count; i++)
        if (arguments[i]->number < least || isnan(arguments[i]->number))
            least = arguments[i]->number;
    return interpreter_number(self, least);
}

static struct value *builtin_sqrt(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return interpreter_number(self, sqrt(arguments[0]->number));
}

static struct value *builtin_ceil(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return interpreter_number(self, ceil(arguments[0]->number));
}

static struct value *builtin_floor(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return interpreter_number(self, floor(arguments[0]->number));
}

static struct value *builtin_abs(struct interpreter *self, struct value **arguments, size_t count)
{
    (void)count;
    return interpreter_number(self, fabs(arguments[0]->number));
}

static struct value *builtin_range(struct interpreter *self, struct value **arguments, size_t count)
{
    double start = arguments[0]->number, stop = arguments[1]->number;
    double step = count > 2 ? arguments[2]->number : 1;
    if (step == 0)
        return interpreter_raise(self, BUILTIN_ERROR,
                                 "invalid arguments to builtin: range: the step is 0");
    double length = ceil((stop - start) / step);
    if (!(length > 0))
        return interpreter_list(self, 0);
    /* A number far beyond every limit stands for the lengths that size_t cannot hold. */
    size_t items = length > 1e15 ? (size_t)1e15 : (size_t)length;
    if (!interpreter_steps(self, items) ||
        !interpreter_may_take(self, items * sizeof(struct value)))
        return NULL;
    struct value *list = interpreter_list(self, items);
    for (size_t i = 0; list && i < items; i++)
        value_append(self->arena, list, value_number(self->arena, start + (double)i * step));
    return list;
}

/* The rest */

static struct value *builtin_from_now(struct interpreter *self, struct value **arguments,
                                      size_t count)
{
    bool given = count > 1 && arguments[1]->string.length > 0;
    return from_now(self, arguments[0]->string,
                    given ? arguments[1] : interpreter_find(self, TEXT("now")));
}

static struct value *builtin_typeof(struct interpreter *self, struct value **arguments,
                                    size_t count)
{
    (void)count;
    const char *name =
        arguments[0]->kind == VALUE_LIST ? "array" : value_kind_name(arguments[0]->kind);
    return interpreter_text(self, name, strlen(name));
}

static struct value *builtin_defined(struct interpreter *self, struct value **arguments,
                                     size_t count)
{
    (void)count;
    if (!interpreter_bytes(self, arguments[0]->string.length))
        return NULL;
    return interpreter_boolean(self, interpreter_find(self, arguments[0]->string) != NULL);
}

static const struct builtin builtins[] = {
    {"max", builtin_max, 1, ANY_COUNT, {TYPE_NUMBER}, true},
    {"min", builtin_min, 1, ANY_COUNT, {TYPE_NUMBER}, true},
    {"sqrt", builtin_sqrt, 1, 1, {TYPE_NUMBER}, false},
    {"ceil", builtin_ceil, 1, 1, {TYPE_NUMBER}, false},
    {"floor", builtin_floor, 1, 1, {TYPE_NUMBER}, false},
    {"abs", builtin_abs, 1, 1, {TYPE_NUMBER}, false},
    {"range", builtin_range, 2, 3, {TYPE_WHOLE}, true},
    {"lowercase", builtin_lowercase, 1, 1, {TYPE_STRING}, false},
    {"uppercase", builtin_uppercase, 1, 1, {TYPE_STRING}, false},
    {"str", builtin_str, 1, 1, {TYPE_SCALAR}, false},
    {"number", builtin_number, 1, 1, {TYPE_STRING}, false},
    {"len", builtin_len, 1, 1, {TYPE_STRING | TYPE_LIST}, false},
    {"strip", builtin_strip, 1, 1, {TYPE_STRING}, false},
    {"rstrip", builtin_rstrip, 1, 1, {TYPE_STRING}, false},
    {"lstrip", builtin_lstrip, 1, 1, {TYPE_STRING}, false},
    {"split", builtin_split, 2, 2, {TYPE_STRING, TYPE_STRING | TYPE_NUMBER}, false},
    {"join", builtin_join, 2, 2, {TYPE_LIST, TYPE_STRING | TYPE_NUMBER}, false},
    {"fromNow", builtin_from_now, 1, 2, {TYPE_STRING}, true},
    {"typeof", builtin_typeof, 1, 1, {TYPE_ANY}, false},
    {"defined", builtin_defined, 1, 1, {TYPE_STRING}, false},
};

enum { BUILTINS = ARRAY_COUNT(builtins) };

/* The functions as values, shared by all renderings and never changed. */
#define FUNCTION(at)                                                                               \
    {                                                                                              \
        .builtin = &builtins[at]                                                                   \
    }
static const struct function functions[BUILTINS] = {
    FUNCTION(0),  FUNCTION(1),  FUNCTION(2),  FUNCTION(3),  FUNCTION(4),
    FUNCTION(5),  FUNCTION(6),  FUNCTION(7),  FUNCTION(8),  FUNCTION(9),
    FUNCTION(10), FUNCTION(11), FUNCTION(12), FUNCTION(13), FUNCTION(14),
    FUNCTION(15), FUNCTION(16), FUNCTION(17), FUNCTION(18), FUNCTION(19),
};
#undef FUNCTION
_Static_assert(BUILTINS == 20, "as many function values as built-in functions");

struct value *interpreter_find_builtin(struct interpreter *self, struct text name)
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

static bool fits_type(const struct value *value, int type)
{
    if (type == TYPE_WHOLE)
        return value->kind == VALUE_NUMBER && interpreter_is_whole(value->number);
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
        good = fits_type(arguments[i], type);
    }
    if (!good)
        return interpreter_raise(self, BUILTIN_ERROR, "invalid arguments to builtin: %s",
                                 builtin->name);
    return builtin->call(self, arguments, count);
}

struct value *interpreter_call(struct interpreter *self, const struct function *function,
                               struct value **arguments, size_t count)
{
    if (function->builtin)
        return call_builtin(self, function->builtin, arguments, count);
    struct error reason = {""};
    struct value *value = function->given->call(self->arena, arguments, count, &reason);
    if (!value)
        return interpreter_raise(self, BUILTIN_ERROR, "%s", reason.text);
    return interpreter_may_take(self, 0) ? value : NULL;
}
