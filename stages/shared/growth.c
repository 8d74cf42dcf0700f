/* stages/shared/growth.c - has the executor got more than when a job was refused for want of it? */
#include "stages/shared/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_number(char *buffer, size_t *used, const char *name, int64_t number)
{
    if (!*name || strpbrk(name, " =\n\"\\"))
        return;
    int length = snprintf(buffer + *used, GROWTH_TEXT_SIZE - *used, "%s%s=%" PRId64,
                          *used ? " " : "", name, number);
    if (length < 0 || *used + (size_t)length >= GROWTH_TEXT_SIZE)
        buffer[*used] = '\0';
    else
        *used += (size_t)length;
}

const char *growth_describe(const struct executor *executor, const struct capacity *capacity,
                            char buffer[static GROWTH_TEXT_SIZE])
{
    size_t used = 0;
    buffer[0] = '\0';
    if (!capacity)
        return buffer;
    add_number(buffer, &used, "cpus", capacity->cpus);
    add_number(buffer, &used, "memory", capacity->memory);
    add_number(buffer, &used, "gpus", capacity->gpus);
    add_number(buffer, &used, "live", executor->live_max);
    for (size_t i = 0; i < capacity->gpu_type_count; i++)
        add_number(buffer, &used, capacity->gpu_types[i].type, capacity->gpu_types[i].count);
    return buffer;
}

/* The number that the text has under the name, or -1. */
static int64_t number_of(struct text from, struct text name)
{
    struct text word, key;
    while (from.length && text_next(&from, ' ', &word)) {
        text_next(&word, '=', &key);
        if (text_equal(key, name))
            return text_number(word, INT64_MAX);
    }
    return -1;
}

static bool is_more(struct text name, int64_t before, int64_t now)
{
    if (text_is(name, "live")) /* 0: no bound */
        return before > 0 && (now == 0 || now > before);
    return now > (before < 0 ? 0 : before);
}

/* Was there too little of it then, and is there still? */
static bool is_short(int64_t before, int64_t now, int64_t wanted)
{
    return before >= 0 && before < wanted && now < wanted;
}

bool growth_is_enough(struct text before, const struct executor *executor,
                      const struct capacity *capacity, const struct growth_wanted *wanted)
{
    char buffer[GROWTH_TEXT_SIZE];
    struct text now = text_of(growth_describe(executor, capacity, buffer));
    struct text rest = now, word, name;
    bool more = false;
    while (before.length && rest.length && text_next(&rest, ' ', &word)) {
        text_next(&word, '=', &name);
        more = more || is_more(name, number_of(before, name), number_of(now, name));
    }
    if (!more || !wanted)
        return more;
    return !is_short(number_of(before, TEXT("cpus")), capacity->cpus, wanted->cpus) &&
           !is_short(number_of(before, TEXT("memory")), capacity->memory, wanted->memory) &&
           !is_short(number_of(before, TEXT("gpus")), capacity->gpus, wanted->gpus);
}
