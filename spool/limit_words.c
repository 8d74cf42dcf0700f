/* spool/limit_words.c - what a row of limits.rows allows, in words for people */
#include "spool/limit_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/quantity.h"

static void add_count(struct buffer *out, int64_t value, const char *what)
{
    buffer_printf(out, "%" PRId64 " %s%s", value, what, quantity_plural(value));
}

static void add_running(struct buffer *out, int64_t value)
{
    add_count(out, value, "running job");
}

static void add_waiting(struct buffer *out, int64_t value)
{
    add_count(out, value, "waiting job");
}

static void add_cpus(struct buffer *out, int64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    buffer_printf(out, "%s CPU%s", quantity_format_cpus(value, text), value == 1000 ? "" : "s");
}

static void add_memory(struct buffer *out, int64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    buffer_printf(out, "%s of memory", quantity_format_bytes(value, text));
}

static void add_gpus(struct buffer *out, int64_t value)
{
    add_count(out, value, "GPU");
}

static void add_time_limit(struct buffer *out, int64_t value)
{
    char text[CLOCK_TEXT_SIZE];
    buffer_printf(out, "a time_limit of %s", duration_format(value, text));
}

static void add_gpu_time(struct buffer *out, int64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    buffer_printf(out, "%s GPU-hour%s", quantity_format_hours(value, text),
                  value == 3600000 ? "" : "s");
}

static void add_gpu_period(struct buffer *out, int64_t value)
{
    char text[CLOCK_TEXT_SIZE];
    buffer_printf(out, "within %s", duration_format(value, text));
}

static const struct {
    const char *name; /* in limit_row_describe_limits() */
    void (*add)(struct buffer *out, int64_t value);
    const char *between; /* it and what stands before it */
} amounts[] = {
    {"running=", add_running, " or "},
    {"waiting=", add_waiting, " or "},
    {"cpus_milli=", add_cpus, " or "},
    {"memory_bytes=", add_memory, " or "},
    {"gpus=", add_gpus, " or "},
    {"time_limit_ms=", add_time_limit, " or "},
    {"gpu_time_ms=", add_gpu_time, " or "},
    {"gpu_period_ms=", add_gpu_period, " "},
};

static bool add_amount(struct buffer *out, struct text word, bool first)
{
    for (size_t i = 0; i < ARRAY_COUNT(amounts); i++) {
        size_t length = strlen(amounts[i].name);
        if (!text_starts(word, amounts[i].name) || word.length == length)
            continue;
        if (!first)
            buffer_add_string(out, amounts[i].between);
        amounts[i].add(out, strtoll(word.data + length, NULL, 10));
        return true;
    }
    return false;
}

/* The words for what stands behind whose row it is.  False when they are not understood. */
static bool add_amounts(struct buffer *out, struct text rest, struct text *type)
{
    static const struct text type_is = {"gpu_type=", sizeof("gpu_type=") - 1};
    struct text word;
    for (bool first = true; rest.length && text_next(&rest, ' ', &word);) {
        if (first && !type->length && text_starts(word, type_is.data)) {
            *type = (struct text){word.data + type_is.length, word.length - type_is.length};
            continue;
        }
        if (!add_amount(out, word, first))
            return false;
        first = false;
    }
    return out->length > 0;
}

void limit_words_add(struct text described, struct buffer *out)
{
    struct text rest = described, kind, name, type = {"", 0};
    struct buffer words = {0};
    bool understood = text_next(&rest, ' ', &kind) && text_next(&rest, ' ', &name) &&
                      add_amounts(&words, rest, &type);
    if (!understood) {
        buffer_add_text(out, described);
    } else if (text_is(name, "*")) {
        buffer_printf(out, "%s for each %.*s", words.data, (int)kind.length, kind.data);
    } else {
        buffer_printf(out, "%s for %.*s %.*s", words.data, (int)kind.length, kind.data,
                      (int)name.length, name.data);
    }
    if (understood && type.length)
        buffer_printf(out, ", of jobs with GPUs of type %.*s", (int)type.length, type.data);
    buffer_free(&words);
}
