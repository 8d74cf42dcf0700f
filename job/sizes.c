/* job/sizes.c - the sizes that a job can have */
#include "job/sizes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"

/* How many sizes there are, including those that are not listed. */
static int64_t count_sizes(const struct sizes *sizes)
{
    int64_t count = 1;
    if (sizes->step) {
        int64_t span = sizes->most - sizes->least;
        return 1 + span / sizes->step + (span % sizes->step != 0);
    }
    for (int64_t size = sizes->least; size < sizes->most; count++)
        size = size > sizes->most / 2 ? sizes->most : 2 * size;
    return count;
}

/* The size at an index below count_sizes(). */
static int64_t size_at(const struct sizes *sizes, int64_t index)
{
    int64_t size = sizes->least;
    if (sizes->step)
        return index <= (sizes->most - size) / sizes->step ? size + index * sizes->step
                                                           : sizes->most;
    for (; index > 0 && size < sizes->most; index--)
        size = size > sizes->most / 2 ? sizes->most : 2 * size;
    return size;
}

size_t sizes_list(const struct sizes *sizes, int64_t list[static SIZES_MOST])
{
    if (sizes->kind == SIZE_FIXED)
        return 0;
    int64_t count = count_sizes(sizes);
    int64_t told = count < SIZES_MOST ? count : SIZES_MOST;
    /* Of the whole quotient first, so that nothing overflows. */
    int64_t apart = told > 1 ? (count - 1) / (told - 1) : 0;
    int64_t rest = told > 1 ? (count - 1) % (told - 1) : 0;
    for (int64_t i = 0; i < told; i++)
        list[i] = size_at(sizes, i * apart + i * rest / (told > 1 ? told - 1 : 1));
    return (size_t)told;
}

const char *size_kind_name(enum size_kind kind)
{
    static const char *const names[] = {"fixed", "tasks", "gpus", "cpus"};
    return names[kind];
}

const char *size_text(enum size_kind kind, int64_t size, char buffer[static SIZE_TEXT_SIZE])
{
    const char *plural = kind == SIZE_CPUS ? quantity_plural_cpus(size) : quantity_plural(size);
    char cpus[QUANTITY_TEXT_SIZE];
    switch (kind) {
    case SIZE_FIXED:
        snprintf(buffer, SIZE_TEXT_SIZE, "%" PRId64, size);
        break;
    case SIZE_TASKS:
        snprintf(buffer, SIZE_TEXT_SIZE, "%" PRId64 " task%s", size, plural);
        break;
    case SIZE_GPUS:
        snprintf(buffer, SIZE_TEXT_SIZE, "%" PRId64 " GPU%s", size, plural);
        break;
    case SIZE_CPUS:
        snprintf(buffer, SIZE_TEXT_SIZE, "%s CPU%s", quantity_format_cpus(size, cpus), plural);
        break;
    }
    return buffer;
}
