/* base/window.h - how much was used within a sliding period, such as the last 30 days
 *
 * The period is counted in WINDOW_PARTS parts of equal length.  What was used in a part counts until the whole part
 * has left the period: so what is told is never too little, and at most one part's use too much.  An amount that is
 * 0 throughout (struct window = {0}) has nothing used.  Times are of day, in milliseconds.
 */
#ifndef BASE_WINDOW_H
#define BASE_WINDOW_H

#include <stdint.h>

enum { WINDOW_PARTS = 60 };

struct window {
    int64_t
        newest; /* the number of the newest part that was used; of the older ones those of the period are kept */
    int64_t parts[WINDOW_PARTS + 1]; /* by number, modulo their count */
};

/* So much was used evenly between two times; what lies before the period at `now` is left out, and what lies after
 * `now` counts as of now. */
void window_add(struct window *window, int64_t period, int64_t from, int64_t to, int64_t amount,
                int64_t now);

/* How much was used within the period that ends now. */
int64_t window_used(const struct window *window, int64_t period, int64_t now);

/* When at most that much will be left of what is used now; now, where that is so already. */
int64_t window_falls(const struct window *window, int64_t period, int64_t now, int64_t most);

#endif
