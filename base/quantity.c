/* base/quantity.c - amounts of memory and of processors
 *
 * All arithmetic is in integers with overflow checked, so that "1.1Gi" is the same everywhere.
 */
#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DECIMALS = 9 }; /* digits after the point that are read */

struct decimal {
    int64_t whole;
    int64_t fraction; /* over `scale` */
    int64_t scale;    /* a power of ten, at least 1 */
};

static bool is_digit(struct text text, size_t at)
{
    return at < text.length && text.data[at] >= '0' && text.data[at] <= '9';
}

/* Take `digits [. digits]` off the front of *text. */
static int take_decimal(struct text *text, struct decimal *decimal)
{
    size_t at = 0;
    *decimal = (struct decimal){.scale = 1};
    if (!is_digit(*text, 0))
        return -1;
    for (; is_digit(*text, at); at++)
        if (__builtin_mul_overflow(decimal->whole, (int64_t)10, &decimal->whole) ||
            __builtin_add_overflow(decimal->whole, text->data[at] - '0', &decimal->whole))
            return -1;
    if (at < text->length && text->data[at] == '.') {
        size_t start = ++at;
        for (; is_digit(*text, at); at++) {
            if (at - start == MOST_DECIMALS)
                return -1;
            decimal->fraction = decimal->fraction * 10 + (text->data[at] - '0');
            decimal->scale *= 10;
        }
        if (at == start)
            return -1;
    }
    text->data += at;
    text->length -= at;
    return 0;
}

/* The factor of a suffix; 0 when it is unknown. */
static int64_t suffix_factor(struct text suffix)
{
    static const struct {
        const char *name;
        int64_t factor;
    } factors[] = {
        {"", 1},
        {"k", 1000},
        {"K", 1000},
        {"M", 1000000},
        {"G", 1000000000},
        {"T", 1000000000000},
        {"P", 1000000000000000},
        {"E", 1000000000000000000},
        {"Ki", (int64_t)1 << 10},
        {"Mi", (int64_t)1 << 20},
        {"Gi", (int64_t)1 << 30},
        {"Ti", (int64_t)1 << 40},
        {"Pi", (int64_t)1 << 50},
        {"Ei", (int64_t)1 << 60},
    };
    if (suffix.length && suffix.data[suffix.length - 1] == 'B')
        suffix.length--;
    for (size_t i = 0; i < ARRAY_COUNT(factors); i++)
        if (text_is(suffix, factors[i].name))
            return factors[i].factor;
    return 0;
}

int quantity_parse_bytes(struct text text, int64_t *bytes)
{
    struct decimal decimal;
    if (take_decimal(&text, &decimal))
        return -1;
    if (text.length > 1 && text.data[0] == ' ') {
        text.data++;
        text.length--;
    }
    int64_t factor = suffix_factor(text);
    int64_t result;
    if (factor == 0 || __builtin_mul_overflow(decimal.whole, factor, &result))
        return -1;
    /* The fraction is below 10^9 and the factor below 2^60, so their product needs 128 bits. */
    int64_t part = (int64_t)((__extension__(__int128) decimal.fraction) * factor / decimal.scale);
    if (__builtin_add_overflow(result, part, &result))
        return -1;
    *bytes = result;
    return 0;
}

int quantity_parse_cpus(struct text text, int64_t *thousandths)
{
    struct decimal decimal;
    int64_t result;
    if (take_decimal(&text, &decimal))
        return -1;
    if (text_is(text, "m")) {
        if (decimal.scale != 1)
            return -1;
        *thousandths = decimal.whole;
        return 0;
    }
    int64_t part = decimal.fraction * 1000;
    if (text.length || part % decimal.scale)
        return -1;
    if (__builtin_mul_overflow(decimal.whole, (int64_t)1000, &result) ||
        __builtin_add_overflow(result, part / decimal.scale, &result))
        return -1;
    *thousandths = result;
    return 0;
}

const char *quantity_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

const char *quantity_plural_cpus(int64_t thousandths)
{
    return quantity_plural(thousandths == 1000 ? 1 : 0);
}

const char *quantity_format_bytes(int64_t bytes, char buffer[static QUANTITY_TEXT_SIZE])
{
    static const char units[] = "KMGTPE";
    const char *sign = bytes < 0 ? "-" : "";
    uint64_t rest = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
    if (rest < 1024) {
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%s%d byte%s", sign, (int)rest,
                 quantity_plural((int64_t)rest));
        return buffer;
    }
    size_t unit = 0;
    uint64_t size = 1024; /* of the unit */
    while (unit + 1 < strlen(units) && rest / size >= 1024) {
        size *= 1024;
        unit++;
    }
    /* Tenths of the unit, rounded to the nearest; 1023.96 KiB rounds up into the next unit. */
    uint64_t tenths = rest / size * 10 + (rest % size * 10 + size / 2) / size;
    if (tenths >= 10240 && unit + 1 < strlen(units)) {
        tenths = 10;
        unit++;
    }
    int length = snprintf(buffer, QUANTITY_TEXT_SIZE, "%s%d", sign, (int)(tenths / 10));
    if (tenths % 10)
        length += snprintf(buffer + length, QUANTITY_TEXT_SIZE - (size_t)length, ".%d",
                           (int)(tenths % 10));
    snprintf(buffer + length, QUANTITY_TEXT_SIZE - (size_t)length, " %ciB", units[unit]);
    return buffer;
}

const char *quantity_format_cpus(int64_t thousandths, char buffer[static QUANTITY_TEXT_SIZE])
{
    const char *sign = thousandths < 0 ? "-" : "";
    uint64_t rest = thousandths < 0 ? -(uint64_t)thousandths : (uint64_t)thousandths;
    int length =
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%s%llu", sign, (unsigned long long)(rest / 1000));
    if (rest % 1000) {
        length += snprintf(buffer + length, QUANTITY_TEXT_SIZE - (size_t)length, ".%03d",
                           (int)(rest % 1000));
        while (buffer[length - 1] == '0')
            buffer[--length] = '\0';
    }
    return buffer;
}

const char *quantity_format_hours(int64_t milliseconds, char buffer[static QUANTITY_TEXT_SIZE])
{
    return quantity_format_cpus(milliseconds / 3600, buffer);
}

const char *quantity_format_resources(int64_t cpus, int64_t memory, int64_t gpus,
                                      char buffer[static RESOURCES_TEXT_SIZE])
{
    char processors[QUANTITY_TEXT_SIZE], bytes[QUANTITY_TEXT_SIZE],
        devices[QUANTITY_TEXT_SIZE] = "";
    if (gpus)
        snprintf(devices, sizeof(devices), ", %" PRId64 " GPU%s", gpus, quantity_plural(gpus));
    snprintf(buffer, RESOURCES_TEXT_SIZE, "%s CPU%s, %s%s", quantity_format_cpus(cpus, processors),
             quantity_plural_cpus(cpus), quantity_format_bytes(memory, bytes), devices);
    return buffer;
}
