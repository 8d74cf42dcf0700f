/* request/limit_signal.c - a signal before the time limit: signal{name, before} */
#include "request/limit_signal.h"

#include <stddef.h>

#include "base/duration.h"
#include "request/checkpoint.h"
#include "request/values.h"

#define BEFORE_USUAL ((int64_t)60 * 1000) /* milliseconds, as Slurm's */

static const struct field fields[] = {
    {FIELD_NAME("name"), read_signal_name, .offset = offsetof(struct limit_signal, name)},
    {FIELD_NAME("before"), read_duration, .offset = offsetof(struct limit_signal, before),
     .least = 1000, .most = DURATION_MOST},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "signal",
};

void read_limit_signal(struct reading *reading, const struct value_path *path,
                       const struct value *value, const struct field *field, void *into)
{
    struct limit_signal *signal = into;
    *signal = (struct limit_signal){.before = BEFORE_USUAL};
    if (value->kind == VALUE_STRING) {
        read_signal_name(reading, path, value, field, &signal->name);
        return;
    }
    if (value->kind != VALUE_OBJECT) {
        problems_expected(reading, path, value, "a map such as {name: USR1, before: 2m}, or USR1");
        return;
    }
    fields_read(reading, path, value, &table, into);
    if (!fields_given(value, "name"))
        problems_expected(reading, path, value,
                          "the name of the signal as well, as in {name: USR1, before: 2m}");
}

void limit_signal_check(struct reading *reading, const struct value *root,
                        const struct description *job)
{
    const struct value *value = fields_given(root, "signal");
    struct value_path path = {.name = TEXT("signal")};
    char before[CLOCK_TEXT_SIZE], limit[CLOCK_TEXT_SIZE];
    if (value && job->time_limit && job->signal.name.length &&
        job->signal.before >= job->time_limit)
        problems_add(reading, &path, value->line, value->column,
                     "found %s before the time limit, expected less than the time_limit itself, %s",
                     duration_format(job->signal.before, before),
                     duration_format(job->time_limit, limit));
}
