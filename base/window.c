/* base/window.c - how much was used within a sliding period */
#include "base/window.h"

#include <stdbool.h>

enum { SLOTS = WINDOW_PARTS + 1 };

static int64_t length_of(int64_t period)
{
    return (period + WINDOW_PARTS - 1) / WINDOW_PARTS;
}

static int64_t *part_at(struct window *window, int64_t number)
{
    return &window->parts[number % SLOTS];
}

/* Make `number` the newest part; those that it takes the place of are forgotten. */
static void move_on(struct window *window, int64_t number)
{
    int64_t first =
        window->newest + 1 > number - WINDOW_PARTS ? window->newest + 1 : number - WINDOW_PARTS;
    for (int64_t i = first; i <= number; i++)
        *part_at(window, i) = 0;
    if (number > window->newest)
        window->newest = number;
}

/* How much of an amount that was used evenly was used in the first so many of `whole` milliseconds. */
static int64_t portion(int64_t amount, int64_t part, int64_t whole)
{
    return part <= 0      ? 0
           : part < whole ? (int64_t)((double)amount * ((double)part / (double)whole))
                          : amount;
}

void window_add(struct window *window, int64_t period, int64_t from, int64_t to, int64_t amount,
                int64_t now)
{
    int64_t length = length_of(period), newest = now / length, oldest = newest - WINDOW_PARTS;
    int64_t start = from > 0 && from < to ? from : to, whole = to - start;
    int64_t last = to / length < newest ? to / length : newest;
    int64_t first = start / length > oldest ? start / length : oldest;
    if (amount <= 0 || now < 0 || to < 0 || last < oldest)
        return;
    move_on(window, newest);
    first = first < last ? first : last;
    int64_t before = portion(amount, first * length - start, whole);
    for (int64_t number = first; number <= last; number++) {
        int64_t by_then =
            number < last ? portion(amount, (number + 1) * length - start, whole) : amount;
        *part_at(window, number) += by_then - before;
        before = by_then;
    }
}

/* What was used in the part of that number, if it is within the period that ends now. */
static int64_t used_in(const struct window *window, int64_t number, int64_t length, int64_t now)
{
    bool kept = number <= window->newest && number > window->newest - SLOTS && number >= 0;
    return kept && number >= now / length - WINDOW_PARTS ? window->parts[number % SLOTS] : 0;
}

int64_t window_used(const struct window *window, int64_t period, int64_t now)
{
    int64_t length = length_of(period), used = 0;
    for (int64_t i = 0; i < SLOTS; i++)
        used += used_in(window, window->newest - i, length, now);
    return used;
}

int64_t window_falls(const struct window *window, int64_t period, int64_t now, int64_t most)
{
    int64_t length = length_of(period), used = window_used(window, period, now);
    for (int64_t i = SLOTS - 1; i >= 0 && used > most; i--) {
        int64_t number = window->newest - i, there = used_in(window, number, length, now);
        used -= there;
        if (used <= most)
            return (number + WINDOW_PARTS + 1) * length;
    }
    return now;
}
