/* request/checkpoint.c - how a job saves its state: checkpoint{signal, grace, interval} */
#include "request/checkpoint.h"

#include <stddef.h>

#include "request/values.h"

#define SECOND ((int64_t)1000)
#define GRACE_USUAL (30 * SECOND)
/* Other jobs wait for the resources during the grace. */
#define GRACE_MOST (60 * 60 * SECOND)

void read_signal_name(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    static const char *const names[] = {"TERM", "USR1", "USR2", "INT", "HUP"};
    (void)field;
    struct text name = {0};
    if (value->kind == VALUE_STRING)
        name = value->string;
    if (text_starts(name, "SIG"))
        name = (struct text){name.data + 3, name.length - 3};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (text_is(name, names[i])) {
            *(struct text *)into = name;
            return;
        }
    }
    problems_expected(reading, path, value, "one of TERM, USR1, USR2, INT, HUP");
}

static const struct field fields[] = {
    {FIELD_NAME("signal"), read_signal_name, .offset = offsetof(struct checkpoint, signal)},
    {FIELD_NAME("grace"), read_duration, .offset = offsetof(struct checkpoint, grace),
     .least = SECOND, .most = GRACE_MOST},
    {FIELD_NAME("interval"), read_duration, .offset = offsetof(struct checkpoint, interval),
     .least = SECOND, .most = DURATION_MOST},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "checkpoint",
};

void read_checkpoint(struct reading *reading, const struct value_path *path,
                     const struct value *value, const struct field *field, void *into)
{
    struct checkpoint *checkpoint = into;
    (void)field;
    *checkpoint = (struct checkpoint){.signal = TEXT("TERM"), .grace = GRACE_USUAL};
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value,
                          "a map such as {signal: USR1, grace: 60s, interval: 10m}, or {}");
    else
        fields_read(reading, path, value, &table, into);
}
