/* request/begin.c - when a job begins at the earliest: begin
 *
 * What is meant by 22:00 depends on when it is read; so description_begin() finds it out, from the
 * time at which the job was accepted.
 */
#include "request/begin.h"

#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "request/deadline.h"
#include "request/values.h"

/* So many digits at the start of *rest, which goes past them, as a number from 0 to `most`; -1 when
 * they are not there. */
static int take_digits(struct text *rest, size_t count, int most)
{
    int number = 0;
    if (rest->length < count)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (rest->data[i] < '0' || rest->data[i] > '9')
            return -1;
        number = number * 10 + rest->data[i] - '0';
    }
    rest->data += count;
    rest->length -= count;
    return number <= most ? number : -1;
}

static bool take_byte(struct text *rest, char byte)
{
    if (!rest->length || rest->data[0] != byte)
        return false;
    rest->data++;
    rest->length--;
    return true;
}

/* YYYY-MM-DD; whether the month has that day is seen later. */
static bool take_day(struct text *rest, struct begin *begin)
{
    begin->year = take_digits(rest, 4, 9999);
    if (begin->year < 1 || !take_byte(rest, '-'))
        return false;
    begin->month = take_digits(rest, 2, 12);
    if (begin->month < 1 || !take_byte(rest, '-'))
        return false;
    begin->day = take_digits(rest, 2, 31);
    return begin->day >= 1;
}

/* HH:MM or HH:MM:SS */
static bool take_time(struct text *rest, struct begin *begin)
{
    int hour = take_digits(rest, 2, 23);
    int minute = hour >= 0 && take_byte(rest, ':') ? take_digits(rest, 2, 59) : -1;
    int second = minute >= 0 && take_byte(rest, ':') ? take_digits(rest, 2, 59) : 0;
    begin->second = (hour * 60 + minute) * 60 + second;
    return minute >= 0 && second >= 0;
}

/* A day, a time of day, or both. */
static bool take_local(struct text text, struct begin *begin)
{
    struct text rest = text;
    int64_t time;
    begin->local = true;
    if (text.length > 2 && text.data[2] == ':')
        return take_time(&rest, begin) && !rest.length;
    if (!take_day(&rest, begin))
        return false;
    if (rest.length &&
        !((take_byte(&rest, 'T') || take_byte(&rest, ' ')) && take_time(&rest, begin)))
        return false;
    return !rest.length && clock_from_local(begin->year, begin->month, begin->day, 0, &time) == 0;
}

void read_begin(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    struct begin begin = {.line = value->line, .column = value->column};
    struct text text = {0};
    (void)field;
    bool good = values_scalar_text(value, false, &text);
    begin.written = text;
    if (good && text_is(text, "now"))
        return;
    begin.given = true;
    if (good && text_starts(text, "+"))
        good = duration_parse((struct text){text.data + 1, text.length - 1}, &begin.after) == 0;
    else if (good && !deadline_take_time(text, &begin.time))
        good = take_local(text, &begin);
    if (good)
        *(struct begin *)into = begin;
    else
        problems_expected(reading, path, value,
                          "a time such as 22:00, 2026-05-01T18:00, 2026-05-01T18:00Z, or +6h, "
                          "which counts from the moment at which the job is accepted");
}

/* The next time that it is so late, at `accepted` or after it. */
static int64_t next_time_of_day(int second, int64_t accepted)
{
    int year, month, day;
    int64_t time = accepted;
    /* The day before, today and tomorrow: where clocks are changed a day has 23 or 25 hours. */
    for (int64_t days = -1; days <= 2; days++) {
        clock_local_day(accepted + days * CLOCK_DAY, &year, &month, &day);
        if (clock_from_local(year, month, day, second, &time) == 0 && time >= accepted)
            return time;
    }
    return accepted;
}

static int64_t time_of(const struct begin *begin, int64_t accepted)
{
    int64_t time = begin->time;
    if (!begin->local)
        return begin->time ? begin->time : accepted + begin->after;
    if (!begin->year)
        return next_time_of_day(begin->second, accepted);
    return clock_from_local(begin->year, begin->month, begin->day, begin->second, &time) ? accepted
                                                                                         : time;
}

int description_begin(const struct description *job, const char *file, int64_t accepted,
                      int64_t deadline, int64_t *time, struct error *error)
{
    const struct begin *begin = &job->begin;
    struct error_quote_buffer name, found;
    char buffer[CLOCK_TEXT_SIZE];
    *time = 0;
    if (!begin->given)
        return 0;
    *time = time_of(begin, accepted);
    bool late = deadline && *time >= deadline;
    if (!late && *time <= accepted + DURATION_MOST)
        return 0;
    return error_set(error, "%s:%u:%u: begin: found %s, expected a time before %s%s",
                     error_quote(&name, file, text_of(file).length), begin->line, begin->column,
                     error_quote(&found, begin->written.data, begin->written.length),
                     clock_format(late ? deadline : accepted + DURATION_MOST, buffer),
                     late ? ", the job's deadline" : "");
}
