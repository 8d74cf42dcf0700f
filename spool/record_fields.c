/* spool/record_fields.c - a table of fields, written to and read from a map of job.yaml */
#include "spool/record_fields.h"

#include <math.h>

#include "base/clock.h"
#include "job/sizes.h"
#include "spool/retry_when.h"

/* Writing */

/* The value of a field for job.yaml; NULL when it is left out. */
static struct value *field_value(struct arena *arena, const struct record_field *field,
                                 const void *base)
{
    const void *at = (const char *)base + field->offset;
    char time[CLOCK_TEXT_SIZE];
    switch (field->kind) {
    case FIELD_TEXT: {
        const struct text *text = at;
        return text->length ? value_text(arena, *text) : NULL;
    }
    case FIELD_INT:
        return value_number(arena, *(const int *)at);
    case FIELD_UINT:
        return value_number(arena, *(const unsigned int *)at);
    case FIELD_INT64:
        return value_number(arena, (double)*(const int64_t *)at);
    case FIELD_TIME:
        if (*(const int64_t *)at == 0 && !field->needed)
            return NULL;
        return value_string(arena, clock_format(*(const int64_t *)at, time));
    case FIELD_WHEN:
        return value_text(arena, text_of(retry_when_name(*(const enum retry_when *)at)));
    case FIELD_COUNT:
        return *(const int *)at ? value_number(arena, *(const int *)at) : NULL;
    case FIELD_AMOUNT:
        return *(const int64_t *)at ? value_number(arena, (double)*(const int64_t *)at) : NULL;
    case FIELD_DOUBLE:
        return *(const double *)at > 0 ? value_number(arena, *(const double *)at) : NULL;
    case FIELD_SIZE_KIND: {
        enum size_kind kind = *(const enum size_kind *)at;
        return kind == SIZE_FIXED ? NULL : value_text(arena, text_of(size_kind_name(kind)));
    }
    }
    return NULL;
}

void record_fields_put(struct arena *arena, struct value *map, const struct record_field *table,
                       size_t count, const void *base)
{
    for (size_t i = 0; i < count; i++) {
        struct value *value = field_value(arena, &table[i], base);
        if (value)
            value_put(arena, map, table[i].name, value);
    }
}

static int read_when(struct text word, enum retry_when *when)
{
    for (*when = RETRY_NEVER; *when <= RETRY_CHANGE; (*when)++)
        if (text_is(word, retry_when_name(*when)))
            return 0;
    return -1;
}

static int read_size_kind(struct text word, enum size_kind *kind)
{
    for (*kind = SIZE_TASKS; *kind <= SIZE_CPUS; (*kind)++)
        if (text_is(word, size_kind_name(*kind)))
            return 0;
    return -1;
}

/* The range of numbers of a field; `least` above `most` when it is not a number. */
struct number_range {
    double least, most;
    bool fractions;
};

static struct number_range range_of(enum field_kind kind)
{
    static const double int_most = 2147483647.0, int64_most = 9e15;
    switch (kind) {
    case FIELD_INT:
        return (struct number_range){-int_most, int_most, false};
    case FIELD_UINT:
        return (struct number_range){0, 4294967295.0, false};
    case FIELD_INT64:
        return (struct number_range){-int64_most, int64_most, false};
    case FIELD_COUNT:
        return (struct number_range){0, int_most, false};
    case FIELD_AMOUNT:
        return (struct number_range){0, int64_most, false};
    case FIELD_DOUBLE:
        return (struct number_range){0, 1e300, true};
    default:
        return (struct number_range){1, 0, false};
    }
}

static bool value_fits(const struct value *value, struct number_range range)
{
    if (range.least > range.most)
        return value->kind == VALUE_STRING;
    return value->kind == VALUE_NUMBER && value->number >= range.least &&
           value->number <= range.most &&
           (range.fractions || value->number == floor(value->number));
}

/* Store a field of job.yaml in a record.  -1 when it is of the wrong kind or out of range. */
static int read_field(const struct record_field *field, const struct value *value, void *base)
{
    void *at = (char *)base + field->offset;
    if (!value_fits(value, range_of(field->kind)))
        return -1;
    switch (field->kind) {
    case FIELD_TEXT:
        *(struct text *)at = value->string;
        return 0;
    case FIELD_INT:
    case FIELD_COUNT:
        *(int *)at = (int)value->number;
        return 0;
    case FIELD_UINT:
        *(unsigned int *)at = (unsigned int)value->number;
        return 0;
    case FIELD_INT64:
    case FIELD_AMOUNT:
        *(int64_t *)at = (int64_t)value->number;
        return 0;
    case FIELD_DOUBLE:
        *(double *)at = value->number;
        return 0;
    case FIELD_TIME:
        return clock_parse(value->string, at);
    case FIELD_WHEN:
        return read_when(value->string, at);
    case FIELD_SIZE_KIND:
        return read_size_kind(value->string, at);
    }
    return -1;
}

int record_fields_read(const struct value *map, const struct record_field *table, size_t count,
                       void *base, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *value = value_get(map, table[i].name);
        if (!value && table[i].needed)
            return error_set(error, "job.yaml is damaged: the field %s is missing", table[i].name);
        if (value && read_field(&table[i], value, base))
            return error_set(error, "job.yaml:%u:%u: damaged: %s is not what it should be",
                             value->line, value->column, table[i].name);
    }
    return 0;
}
