/* base/clock.c - the time of day, elapsed time, and how both are written */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The times whose year in UTC has four digits. */
static const int64_t earliest_time = -62167219200000, latest_time = 253402300799999;

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static clock_source *replaced_now, *replaced_elapsed;

void clock_replace(clock_source *now, clock_source *elapsed)
{
    replaced_now = now;
    replaced_elapsed = elapsed;
}

int64_t clock_now(void)
{
    return replaced_now ? replaced_now() : read_clock(CLOCK_REALTIME);
}

int64_t clock_elapsed(void)
{
    return replaced_elapsed ? replaced_elapsed() : read_clock(CLOCK_MONOTONIC);
}

static struct tm split_time(int64_t time, int *milliseconds)
{
    int64_t seconds = time / 1000;
    int rest = (int)(time % 1000);
    if (rest < 0) {
        rest += 1000;
        seconds--;
    }
    time_t t = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&t, &tm))
        memset(&tm, 0, sizeof(tm));
    *milliseconds = rest;
    return tm;
}

/* strftime's %Y does not pad the year 987 to 0987. */
static size_t write_year(const struct tm *tm, char buffer[static CLOCK_TEXT_SIZE])
{
    return (size_t)snprintf(buffer, CLOCK_TEXT_SIZE, "%04d", tm->tm_year + 1900);
}

/* Write two digits, and what stands before them. */
static char *write_two(char *to, char before, int number)
{
    *to++ = before;
    *to++ = (char)('0' + number / 10 % 10);
    *to++ = (char)('0' + number % 10);
    return to;
}

/* By hand, as each line of a log begins with a time, and strftime looks at the locale. */
const char *clock_format(int64_t time, char buffer[static CLOCK_TEXT_SIZE])
{
    int milliseconds;
    struct tm tm = split_time(time, &milliseconds);
    char *to = buffer + write_year(&tm, buffer);
    to = write_two(to, '-', tm.tm_mon + 1);
    to = write_two(to, '-', tm.tm_mday);
    to = write_two(to, 'T', tm.tm_hour);
    to = write_two(to, ':', tm.tm_min);
    to = write_two(to, ':', tm.tm_sec);
    to = write_two(to, '.', milliseconds / 10);
    *to++ = (char)('0' + milliseconds % 10);
    memcpy(to, "Z", sizeof("Z"));
    return buffer;
}

const char *clock_local(int64_t time, char buffer[static CLOCK_TEXT_SIZE])
{
    time_t seconds = (time_t)(time / 1000 - (time % 1000 < 0));
    struct tm tm;
    if (!localtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof(tm));
    size_t length = write_year(&tm, buffer);
    strftime(buffer + length, CLOCK_TEXT_SIZE - length, "-%m-%d %H:%M:%S", &tm);
    return buffer;
}

void clock_local_day(int64_t time, int *year, int *month, int *day)
{
    time_t seconds = (time_t)(time / 1000 - (time % 1000 < 0));
    struct tm tm;
    if (!localtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof(tm));
    *year = tm.tm_year + 1900;
    *month = tm.tm_mon + 1;
    *day = tm.tm_mday;
}

const char *clock_date(int64_t time, char buffer[static CLOCK_TEXT_SIZE])
{
    int milliseconds;
    struct tm tm = split_time(time, &milliseconds);
    size_t length = write_year(&tm, buffer);
    strftime(buffer + length, CLOCK_TEXT_SIZE - length, "-%m-%d", &tm);
    return buffer;
}

/* `count` digits at *at, or -1. */
static int take_digits(struct text text, size_t *at, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (*at >= text.length || text.data[*at] < '0' || text.data[*at] > '9')
            return -1;
        number = number * 10 + (text.data[*at] - '0');
    }
    return number;
}

static int take_byte(struct text text, size_t *at, const char *allowed)
{
    if (*at >= text.length || !strchr(allowed, text.data[*at]) || text.data[*at] == '\0')
        return -1;
    return text.data[(*at)++];
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Parse the offset from UTC after a time, in minutes; -1 when it is missing or wrong. */
static int take_offset(struct text text, size_t *at, int *minutes)
{
    int sign = take_byte(text, at, "Zz+-");
    *minutes = 0;
    if (sign < 0)
        return -1;
    if (sign == 'Z' || sign == 'z')
        return 0;
    int hour = take_digits(text, at, 2);
    if (hour < 0 || hour > 23 || take_byte(text, at, ":") < 0)
        return -1;
    int minute = take_digits(text, at, 2);
    if (minute < 0 || minute > 59)
        return -1;
    *minutes = (sign == '-' ? -1 : 1) * (hour * 60 + minute);
    return 0;
}

int clock_parse(struct text text, int64_t *time)
{
    size_t at = 0;
    int year = take_digits(text, &at, 4);
    if (year < 0 || take_byte(text, &at, "-") < 0)
        return -1;
    int month = take_digits(text, &at, 2);
    if (month < 1 || month > 12 || take_byte(text, &at, "-") < 0)
        return -1;
    int date = take_digits(text, &at, 2);
    if (date < 1 || date > days_in_month(year, month) || take_byte(text, &at, "Tt ") < 0)
        return -1;
    int hour = take_digits(text, &at, 2);
    if (hour < 0 || hour > 23 || take_byte(text, &at, ":") < 0)
        return -1;
    int minute = take_digits(text, &at, 2);
    if (minute < 0 || minute > 59 || take_byte(text, &at, ":") < 0)
        return -1;
    int second = take_digits(text, &at, 2);
    if (second < 0 || second > 60)
        return -1;
    int milliseconds = 0;
    if (take_byte(text, &at, ".") > 0) {
        int digits = 0;
        for (; at < text.length && text.data[at] >= '0' && text.data[at] <= '9'; at++, digits++)
            if (digits < 3)
                milliseconds = milliseconds * 10 + (text.data[at] - '0');
        if (digits == 0)
            return -1;
        for (; digits < 3; digits++)
            milliseconds *= 10;
    }
    int offset;
    if (take_offset(text, &at, &offset) || at != text.length)
        return -1;
    struct tm tm = {.tm_year = year - 1900,
                    .tm_mon = month - 1,
                    .tm_mday = date,
                    .tm_hour = hour,
                    .tm_min = minute,
                    .tm_sec = second};
    int64_t utc = ((int64_t)timegm(&tm) - (int64_t)offset * 60) * 1000 + milliseconds;
    if (utc < earliest_time || utc > latest_time)
        return -1;
    *time = utc;
    return 0;
}

/* What clocks are ahead of UTC then, in seconds. */
static int64_t offset_at(int64_t seconds)
{
    time_t time = (time_t)seconds;
    struct tm tm;
    return localtime_r(&time, &tm) ? tm.tm_gmtoff : 0;
}

/* mktime() is not used: it reads the time zone's file again, which confined processes cannot. */
int clock_from_local(int year, int month, int day, int second, int64_t *time)
{
    static const int64_t day_seconds = CLOCK_DAY / 1000;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return -1;
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    int64_t shown = (int64_t)timegm(&tm) + second;
    int64_t before = offset_at(shown - day_seconds), after = offset_at(shown + day_seconds);
    bool changed = offset_at(shown - before) != before && offset_at(shown - after) == after;
    *time = (shown - (changed ? after : before)) * 1000;
    return 0;
}
