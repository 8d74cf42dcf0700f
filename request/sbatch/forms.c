/* request/sbatch/forms.c - numbers, sizes and times as Slurm and PBS write them */
#include "request/sbatch/forms.h"

#include <string.h>

#include "base/duration.h"

#define SECOND ((int64_t)1000) /* milliseconds */

int forms_count(struct text text, int64_t *count)
{
    *count = text_number(text, FORMS_COUNT_MOST);
    return *count < 0 ? -1 : 0;
}

static bool is_endless(struct text text)
{
    return text_is(text, "UNLIMITED") || text_is(text, "INFINITE") || text_is(text, "unlimited") ||
           text_is(text, "infinite") || text_is(text, "-1");
}

/* A number of `unit` milliseconds. */
static int read_plain(struct text text, int64_t unit, int64_t *milliseconds)
{
    int64_t number = text_number(text, INT32_MAX);
    if (number < 0)
        return -1;
    *milliseconds = number * unit;
    return 0;
}

int forms_slurm_time(struct text text, int64_t *milliseconds)
{
    *milliseconds = 0;
    if (is_endless(text) || read_plain(text, 60 * SECOND, milliseconds) == 0)
        return 0;
    return duration_parse_clock(text, milliseconds);
}

int forms_pbs_time(struct text text, int64_t *milliseconds)
{
    const char *point = text.length ? memchr(text.data, '.', text.length) : NULL;
    if (point && point + 1 < text.data + text.length)
        text.length = (size_t)(point - text.data);
    if (read_plain(text, SECOND, milliseconds) == 0)
        return 0;
    return memchr(text.data, '-', text.length) ? -1 : duration_parse_clock(text, milliseconds);
}

/* A number with one of `units`, each 1024 times the one before; `plain` is the shift of one
 * without. */
static int read_memory(struct text text, const char *units, int plain, bool bytes_follow,
                       int64_t *bytes)
{
    int64_t number = text_take_number(&text, (int64_t)1 << 50);
    int shift = plain;
    if (number < 0)
        return -1;
    const char *unit = text.length ? strchr(units, text.data[0] | 0x20) : NULL;
    if (unit && *unit) {
        shift = 10 * (int)(unit - units + 1);
        text.data++;
        text.length--;
    }
    bool word = text.length == 1 && (text.data[0] | 0x20) == 'b' && (bytes_follow || shift > plain);
    if ((text.length && !word) || (shift && number > INT64_MAX >> shift))
        return -1;
    *bytes = number << shift;
    return 0;
}

int forms_slurm_memory(struct text text, int64_t *bytes)
{
    return read_memory(text, "kmgt", 20, false, bytes);
}

int forms_pbs_memory(struct text text, int64_t *bytes)
{
    return read_memory(text, "kmgt", 0, true, bytes);
}
