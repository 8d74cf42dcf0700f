/* spool/pairs.c - members of a struct as key=value pairs of a line, by a table */
#include "spool/pairs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"

/* Append a field as key=value.  Empty texts, times of 0, flags that are not set and what
 * is not known are left out. */
static void add_pair(struct buffer *line, const struct pair_field *field, const void *at)
{
    char buffer[CLOCK_TEXT_SIZE], number[NUMBER_TEXT_SIZE];
    switch (field->kind) {
    case PAIR_TEXT:
        if (((const struct text *)at)->length)
            eventlog_add(line, field->name, *(const struct text *)at);
        break;
    case PAIR_INT:
        eventlog_add_number(line, field->name, *(const int *)at);
        break;
    case PAIR_INT64:
        eventlog_add_number(line, field->name, *(const int64_t *)at);
        break;
    case PAIR_KNOWN:
        if (*(const int64_t *)at >= 0)
            eventlog_add_number(line, field->name, *(const int64_t *)at);
        break;
    case PAIR_TIME:
        if (*(const int64_t *)at)
            eventlog_add_string(line, field->name, clock_format(*(const int64_t *)at, buffer));
        break;
    case PAIR_DOUBLE:
        value_format_number(*(const double *)at, number);
        eventlog_add_string(line, field->name, number);
        break;
    case PAIR_FLAG:
        if (*(const bool *)at)
            eventlog_add_number(line, field->name, 1);
        break;
    }
}

void pairs_add(struct buffer *line, const struct pair_field *fields, size_t count, const void *base)
{
    for (size_t i = 0; i < count; i++)
        add_pair(line, &fields[i], (const char *)base + fields[i].offset);
}

/* Read decimal digits with a sign, a point or an exponent; other forms that strtod() takes are
 * refused. */
static int read_double(struct text written, double *number)
{
    char digits[NUMBER_TEXT_SIZE];
    char *end;
    if (written.length == 0 || written.length >= sizeof(digits))
        return -1;
    memcpy(digits, written.data, written.length);
    digits[written.length] = '\0';
    if (strspn(digits, "0123456789.eE+-") != written.length)
        return -1;
    *number = strtod(digits, &end);
    return *end || !isfinite(*number) || *number < 0 ? -1 : 0;
}

static int read_whole(struct text written, int64_t least, int64_t most, int64_t *number)
{
    bool negative = written.length > 0 && written.data[0] == '-';
    struct text digits = {written.data + negative, written.length - negative};
    int64_t value = text_number(digits, INT64_C(999999999999999999));
    if (value < 0)
        return -1;
    *number = negative ? -value : value;
    return *number < least || *number > most ? -1 : 0;
}

static int read_pair(struct text written, const struct pair_field *field, void *at)
{
    int64_t whole;
    switch (field->kind) {
    case PAIR_TEXT:
        *(struct text *)at = written;
        return 0;
    case PAIR_INT:
        if (read_whole(written, INT_MIN, INT_MAX, &whole))
            return -1;
        *(int *)at = (int)whole;
        return 0;
    case PAIR_INT64:
        return read_whole(written, INT64_MIN, INT64_MAX, at);
    case PAIR_KNOWN:
        return read_whole(written, 0, INT64_MAX, at);
    case PAIR_TIME:
        return clock_parse(written, at);
    case PAIR_DOUBLE:
        return read_double(written, at);
    case PAIR_FLAG:
        *(bool *)at = text_is(written, "1");
        return 0;
    }
    return -1;
}

int pairs_read(struct arena *arena, const struct event *event, const struct pair_field *fields,
               size_t count, void *base)
{
    struct text rest = event->rest, key, value;
    size_t next = 0; /* pairs mostly come in the table's order */
    while (eventlog_next_pair(&rest, arena, &key, &value)) {
        size_t tried = 0;
        while (tried < count && !text_is(key, fields[(next + tried) % count].name))
            tried++;
        if (tried == count)
            continue;
        const struct pair_field *field = &fields[(next + tried) % count];
        if (read_pair(value, field, (char *)base + field->offset))
            return -1;
        next = (next + tried + 1) % count;
    }
    return 0;
}
