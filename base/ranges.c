/* base/ranges.c - lists of whole numbers as people write them: 1,3,5-7,20-40:4 */
#include "base/ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* FIRST, FIRST-LAST or FIRST-LAST:STEP. */
struct range {
    int64_t first, last, step;
};

/* False when there is none, or the number is too large. */
static bool take_number(struct text *rest, int64_t *number)
{
    *number = text_take_number(rest, RANGES_LARGEST);
    return *number >= 0;
}

static bool take_byte(struct text *rest, char byte)
{
    if (rest->length == 0 || rest->data[0] != byte)
        return false;
    *rest = (struct text){rest->data + 1, rest->length - 1};
    return true;
}

static int read_range(struct text piece, struct range *range, struct error *error)
{
    struct error_quote_buffer buffer;
    struct text rest = piece;
    bool good = take_number(&rest, &range->first);
    range->last = range->first;
    range->step = 1;
    if (good && take_byte(&rest, '-')) {
        good = take_number(&rest, &range->last);
        if (good && take_byte(&rest, ':'))
            good = take_number(&rest, &range->step);
    }
    error_quote(&buffer, piece.data, piece.length);
    if (!good || rest.length)
        return error_set(error,
                         "found \"%s\", expected a number from 0 to %d, a range such as 0-99, or "
                         "one with a step such as 0-15:4",
                         buffer.text, RANGES_LARGEST);
    if (range->last < range->first)
        return error_set(error, "found \"%s\", expected the smaller number first", buffer.text);
    if (range->step == 0)
        return error_set(error, "found \"%s\", expected a step of at least 1", buffer.text);
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

int ranges_parse(struct arena *arena, struct text list, size_t most, int **numbers, size_t *count,
                 struct error *error)
{
    struct text rest = text_trim(list), piece;
    struct range range;
    size_t used = 0, kept = 0, capacity = 0;
    int *all = NULL;
    if (most > RANGES_LARGEST)
        most = RANGES_LARGEST;
    if (rest.length == 0 || text_ends(rest, ","))
        return error_set(error, "found a list that %s, expected numbers such as 1,3,5-7",
                         rest.length ? "ends in a comma" : "is empty");
    while (text_next(&rest, ',', &piece)) {
        if (read_range(text_trim(piece), &range, error))
            return -1;
        if ((size_t)((range.last - range.first) / range.step) >= most - used)
            return error_set(error, "found more than %zu numbers, expected at most that many",
                             most);
        for (int64_t number = range.first; number <= range.last; number += range.step) {
            all = arena_grow(arena, all, used, &capacity, sizeof(*all));
            all[used++] = (int)number;
        }
    }
    qsort(all, used, sizeof(*all), compare_numbers);
    for (size_t i = 0; i < used; i++)
        if (kept == 0 || all[i] != all[kept - 1])
            all[kept++] = all[i];
    *numbers = all;
    *count = kept;
    return 0;
}

/* How many numbers from the first on have the same distance. */
static size_t run_length(const int *numbers, size_t count)
{
    size_t length = count < 2 ? count : 2;
    while (length < count && numbers[length] - numbers[length - 1] == numbers[1] - numbers[0])
        length++;
    return length;
}

void ranges_format(struct buffer *out, const int *numbers, size_t count)
{
    size_t length;
    for (size_t i = 0; i < count; i += length) {
        if (i)
            buffer_add_byte(out, ',');
        length = run_length(numbers + i, count - i);
        if (length < 3) {
            buffer_printf(out, "%d", numbers[i]);
            length = 1;
            continue;
        }
        buffer_printf(out, "%d-%d", numbers[i], numbers[i + length - 1]);
        if (numbers[i + 1] - numbers[i] > 1)
            buffer_printf(out, ":%d", numbers[i + 1] - numbers[i]);
    }
}
