/* base/yaml_scalar.c - what a plain scalar of YAML means */
#include "base/yaml_scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `[-+]? digits` without a leading zero before another digit. */
static bool is_decimal_integer(struct text t)
{
    size_t at = t.length && (t.data[0] == '-' || t.data[0] == '+');
    if (at == t.length || (t.data[at] == '0' && t.length > at + 1))
        return false;
    for (; at < t.length; at++)
        if (t.data[at] < '0' || t.data[at] > '9')
            return false;
    return true;
}

static bool all_digits_of(struct text t, size_t from, const char *digits)
{
    if (from >= t.length)
        return false;
    for (size_t i = from; i < t.length; i++)
        if (!memchr(digits, t.data[i], strlen(digits)))
            return false;
    return true;
}

/* The core schema's float, without superfluous leading zeros. */
static bool is_float(struct text t)
{
    size_t at = t.length && (t.data[0] == '-' || t.data[0] == '+');
    size_t whole = 0, fraction = 0;
    size_t start = at;
    while (at < t.length && t.data[at] >= '0' && t.data[at] <= '9')
        at++, whole++;
    if (whole > 1 && t.data[start] == '0')
        return false;
    bool dot = at < t.length && t.data[at] == '.';
    if (dot) {
        at++;
        while (at < t.length && t.data[at] >= '0' && t.data[at] <= '9')
            at++, fraction++;
    }
    if (whole + fraction == 0)
        return false;
    if (at < t.length && (t.data[at] == 'e' || t.data[at] == 'E')) {
        at++;
        if (at < t.length && (t.data[at] == '-' || t.data[at] == '+'))
            at++;
        size_t digits = at;
        while (at < t.length && t.data[at] >= '0' && t.data[at] <= '9')
            at++;
        if (at == digits)
            return false;
    }
    return at == t.length;
}

static bool is_one_of(struct text t, const char *const *words)
{
    for (; *words; words++)
        if (text_is(t, *words))
            return true;
    return false;
}

/* The number a plain scalar stands for; false when it is not one.  Core schema, chapter 10.3.2. */
static bool plain_number(struct text t, double *number)
{
    static const char *const infinities[] = {".inf",  ".Inf",  ".INF", "+.inf",
                                             "+.Inf", "+.INF", NULL};
    static const char *const minus_infinities[] = {"-.inf", "-.Inf", "-.INF", NULL};
    static const char *const nans[] = {".nan", ".NaN", ".NAN", NULL};

    if (is_decimal_integer(t) || is_float(t)) {
        *number = strtod(t.data, NULL);
    } else if (text_starts(t, "0x") && all_digits_of(t, 2, "0123456789abcdefABCDEF")) {
        *number = strtod(t.data, NULL);
    } else if (text_starts(t, "0o") && all_digits_of(t, 2, "01234567")) {
        *number = 0;
        for (size_t i = 2; i < t.length; i++)
            *number = *number * 8 + (t.data[i] - '0');
    } else if (is_one_of(t, infinities)) {
        *number = (double)INFINITY;
    } else if (is_one_of(t, minus_infinities)) {
        *number = -(double)INFINITY;
    } else if (is_one_of(t, nans)) {
        *number = (double)NAN;
    } else {
        return false;
    }
    return true;
}

/* The first byte tells most scalars for strings. */
struct value *yaml_scalar_plain(struct arena *arena, struct text t)
{
    static const char *const nulls[] = {"~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};

    char first = t.length ? t.data[0] : '~';
    double number;
    if (first == '~' || first == 'n' || first == 'N')
        return t.length == 0 || is_one_of(t, nulls) ? value_null(arena) : value_text(arena, t);
    if (first == 't' || first == 'T')
        return is_one_of(t, trues) ? value_boolean(arena, true) : value_text(arena, t);
    if (first == 'f' || first == 'F')
        return is_one_of(t, falses) ? value_boolean(arena, false) : value_text(arena, t);
    bool numeric = (first >= '0' && first <= '9') || strchr("+-.", first);
    if (!numeric || !plain_number(t, &number))
        return value_text(arena, t);
    struct value *value = value_number(arena, number);
    value->written = t;
    return value;
}
