/* renderer/jsone/from_now.c - times relative to another: fromNow() and $fromNow
 *
 * "[+-] 1 year 2 months 3 weeks 4 days 5 hours 6 minutes 7 seconds": any part may be left out, the
 * order is fixed, blanks are free, letters may be large or small.  A year is 365 days and a month
 * 30, as in JSON-e.
 *
 * Results before the year 1000 or after 9999, which JSON-e writes in other forms, are errors.
 */
#include "renderer/jsone/from_now.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

struct unit {
    const char *names[5]; /* ended by NULL when there are fewer */
    double seconds;
};

enum { UNITS = 7, DAY = 24 * 60 * 60 };

static const struct unit units[UNITS] = {
    {{"y", "year", "years", "yr"}, 365.0 * DAY}, {{"months", "month", "mo"}, 30.0 * DAY},
    {{"weeks", "week", "wk", "w"}, 7.0 * DAY},   {{"days", "day", "d"}, DAY},
    {{"hours", "hour", "hr", "h"}, 60.0 * 60},   {{"minutes", "minute", "min", "m"}, 60},
    {{"seconds", "second", "sec", "s"}, 1},
};

static size_t skip_space(struct text text, size_t at)
{
    size_t space;
    while ((space = token_space_length(text.data + at, text.length - at)))
        at += space;
    return at;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The unit of that name, or UNITS. */
static size_t find_unit(struct text word)
{
    for (size_t i = 0; i < UNITS; i++)
        for (size_t n = 0; n < 5 && units[i].names[n]; n++)
            if (strlen(units[i].names[n]) == word.length &&
                strncasecmp(units[i].names[n], word.data, word.length) == 0)
                return i;
    return UNITS;
}

/* The length of time in milliseconds; false when the text is none. */
static bool read_offset(struct text text, double *milliseconds)
{
    double sign = 1, seconds = 0;
    size_t at = skip_space(text, 0), least = 0;
    if (at < text.length && (text.data[at] == '-' || text.data[at] == '+'))
        sign = text.data[at++] == '-' ? -1 : 1;
    while ((at = skip_space(text, at)) < text.length) {
        double number = 0;
        size_t before = at;
        for (; at < text.length && text.data[at] >= '0' && text.data[at] <= '9'; at++)
            number = number * 10 + (text.data[at] - '0');
        if (at == before)
            return false;
        at = skip_space(text, at);
        size_t start = at;
        while (at < text.length && is_letter(text.data[at]))
            at++;
        size_t unit = find_unit((struct text){text.data + start, at - start});
        if (unit == UNITS || unit < least)
            return false;
        least = unit + 1;
        seconds += number * units[unit].seconds;
    }
    *milliseconds = sign * seconds * 1000;
    return true;
}

/* A time as JSON-e's own result, or with a part of it left out: no seconds, no zone (UTC is meant),
 * only a date. */
static bool read_time(struct interpreter *self, struct text text, int64_t *time)
{
    static const char *const tails[] = {"", "Z", ":00Z", "T00:00:00Z"};
    if (text.length > 40)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(tails); i++)
        if (clock_parse(arena_printf(self->arena, "%.*s%s", (int)text.length, text.data, tails[i]),
                        time) == 0)
            return true;
    return false;
}

static bool read_reference(struct interpreter *self, const struct value *reference, double *time)
{
    int64_t whole = self->rendering->now;
    bool good = true;
    bool container =
        reference && (reference->kind == VALUE_LIST || reference->kind == VALUE_OBJECT);
    if (!reference || (!container && !interpreter_is_truthy(reference)))
        *time = (double)whole;
    else if (reference->kind == VALUE_NUMBER)
        *time = reference->number;
    else if ((good = reference->kind == VALUE_STRING && read_time(self, reference->string, &whole)))
        *time = (double)whole;
    if (!good)
        interpreter_raise(self, BUILTIN_ERROR, "'%s' isn't a time",
                          interpreter_describe(self, reference).data);
    return good;
}

struct value *from_now(struct interpreter *self, struct text offset, const struct value *reference)
{
    /* 1000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z */
    static const double earliest = -30610224000000.0, latest = 253402300799999.0;
    double milliseconds, time;
    if (!interpreter_bytes(self, offset.length))
        return NULL;
    if (!read_offset(offset, &milliseconds)) {
        struct error_quote_buffer buffer;
        return interpreter_raise(self, BUILTIN_ERROR, "String: '%s' isn't a time expression",
                                 error_quote(&buffer, offset.data, offset.length));
    }
    if (!read_reference(self, reference, &time))
        return NULL;
    time = trunc(time + milliseconds);
    if (!(time >= earliest && time <= latest))
        return interpreter_raise(self, BUILTIN_ERROR, "the time is not in the years 1000 to 9999");
    char buffer[CLOCK_TEXT_SIZE];
    const char *text = clock_format((int64_t)time, buffer);
    return interpreter_text(self, text, strlen(text));
}
