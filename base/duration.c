/* base/duration.c - durations as people write them */
#include "base/duration.h"

#include <stdio.h>
#include <string.h>

static const int64_t longest_duration = 3653 * CLOCK_DAY;

/* The unit at *at in milliseconds, and move *at past it; 0 when there is none. */
static int64_t take_unit(struct text text, size_t *at)
{
    static const struct {
        const char *name;
        int64_t milliseconds;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}, {"d", CLOCK_DAY}};
    struct text rest = {text.data + *at, text.length - *at};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (!text_starts(rest, units[i].name))
            continue;
        *at += strlen(units[i].name);
        return units[i].milliseconds;
    }
    return 0;
}

int duration_parse(struct text text, int64_t *milliseconds)
{
    int64_t total = 0;
    size_t at = 0;
    while (at < text.length) {
        struct text rest = {text.data + at, text.length - at};
        int64_t number = text_take_number(&rest, longest_duration);
        if (number < 0)
            return -1;
        bool plain = at == 0 && rest.length == 0;
        at = text.length - rest.length;
        int64_t unit = plain ? 1000 : take_unit(text, &at);
        if (unit == 0 || number > longest_duration / unit)
            return -1;
        total += number * unit;
    }
    if (text.length == 0 || total > longest_duration)
        return -1;
    *milliseconds = total;
    return 0;
}

int duration_parse_clock(struct text text, int64_t *milliseconds)
{
    enum { LARGEST = 999999999 };
    static const int64_t units[] = {CLOCK_DAY, 60 * 60 * 1000, 60 * 1000, 1000};
    bool days = text.length && memchr(text.data, '-', text.length);
    size_t colons = 0;
    for (size_t i = 0; i < text.length; i++)
        colons += text.data[i] == ':';
    if (colons > 2 || (!days && colons == 0))
        return -1;
    struct text rest = text, part;
    int64_t total = 0;
    for (size_t unit = days ? 0 : 3 - colons; rest.data; unit++) {
        int64_t number = -1;
        if (unit < ARRAY_COUNT(units) && text_next(&rest, unit == 0 ? '-' : ':', &part))
            number = text_number(part, LARGEST);
        if (number < 0)
            return -1;
        total += number * units[unit];
    }
    if (total > longest_duration)
        return -1;
    *milliseconds = total;
    return 0;
}

/* Write "2 h 30 min", or "2 h" when the smaller part is 0. */
static void format_two(char buffer[static CLOCK_TEXT_SIZE], const char *sign, long long large,
                       const char *large_unit, long long small, const char *small_unit)
{
    if (small)
        snprintf(buffer, CLOCK_TEXT_SIZE, "%s%lld %s %lld %s", sign, large, large_unit, small,
                 small_unit);
    else
        snprintf(buffer, CLOCK_TEXT_SIZE, "%s%lld %s", sign, large, large_unit);
}

const char *duration_format(int64_t milliseconds, char buffer[static CLOCK_TEXT_SIZE])
{
    const char *sign = milliseconds < 0 ? "-" : "";
    int64_t ms = milliseconds < 0 ? -milliseconds : milliseconds;
    long long s = ms / 1000, m = s / 60, h = m / 60, d = ms / CLOCK_DAY;
    if (s == 0)
        snprintf(buffer, CLOCK_TEXT_SIZE, "%s%lld ms", sign, (long long)ms);
    else if (m == 0)
        format_two(buffer, sign, s, "s", 0, "");
    else if (h == 0)
        format_two(buffer, sign, m, "min", s % 60, "s");
    else if (d == 0)
        format_two(buffer, sign, h, "h", m % 60, "min");
    else
        format_two(buffer, sign, d, "d", h % 24, "h");
    return buffer;
}
