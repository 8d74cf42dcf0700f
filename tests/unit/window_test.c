/* tests/unit/window_test.c - what was used within a sliding period
 *
 * Seen to fail with: tests/mutants/window-*.patch.
 */
#include "tests/unit/unit.h"

#include "base/window.h"

enum { HOUR = 3600000, PERIOD = 60 * HOUR }; /* a part is an hour */
static const int64_t now = 1000000LL * HOUR + 1800000;

static void nothing_is_used_at_first(void **state)
{
    struct window window = {0};
    (void)state;
    assert_int_equal(window_used(&window, PERIOD, now), 0);
    assert_int_equal(window_falls(&window, PERIOD, now, 0), now);
}

static void what_was_used_counts_for_the_period(void **state)
{
    struct window window = {0};
    (void)state;
    window_add(&window, PERIOD, now - HOUR / 4, now, 100, now);
    assert_int_equal(window_used(&window, PERIOD, now), 100);
    assert_int_equal(window_used(&window, PERIOD, now + PERIOD), 100);
    assert_int_equal(window_used(&window, PERIOD, now + PERIOD + HOUR), 0);
    int64_t falls = window_falls(&window, PERIOD, now, 99);
    assert_true(falls > now + PERIOD && falls <= now + PERIOD + HOUR);
    assert_int_equal(window_used(&window, PERIOD, falls), 0);
    assert_int_equal(window_used(&window, PERIOD, falls - 1), 100);
    assert_int_equal(window_falls(&window, PERIOD, now, 100), now);
}

static void it_was_used_evenly(void **state)
{
    struct window window = {0};
    (void)state;
    window_add(&window, PERIOD, now - 10 * HOUR, now, 1000, now);
    assert_int_equal(window_used(&window, PERIOD, now), 1000);
    int64_t later = window_used(&window, PERIOD, now + 56 * HOUR);
    assert_true(later >= 400 && later <= 500);
    /* What lies before the period is left out. */
    struct window longer = {0};
    window_add(&longer, PERIOD, now - 2 * (int64_t)PERIOD, now, 1000, now);
    int64_t half = window_used(&longer, PERIOD, now);
    assert_true(half >= 500 && half <= 510);
    window_add(&longer, PERIOD, now - 5 * (int64_t)PERIOD, now - 4 * (int64_t)PERIOD, 1000, now);
    assert_int_equal(window_used(&longer, PERIOD, now), half);
}

/* Clocks are set back, and forth. */
static void times_may_be_odd(void **state)
{
    struct window window = {0};
    (void)state;
    window_add(&window, PERIOD, now + 5 * HOUR, now + 9 * HOUR, 10, now);
    assert_int_equal(window_used(&window, PERIOD, now), 10);
    window_add(&window, PERIOD, now, now - HOUR, 10, now);
    window_add(&window, PERIOD, 0, now, 10, now);
    assert_int_equal(window_used(&window, PERIOD, now), 30);
    window_add(&window, PERIOD, now, now, -5, now);
    window_add(&window, PERIOD, now, now, 5, now - 3 * HOUR);
    assert_true(window_used(&window, PERIOD, now) >= 30);
}

/* Against a list of all that was used: never less is told, and at most what was used in one part more. */
static void it_never_tells_too_little(void **state)
{
    enum { USES = 2000 };
    static int64_t times[USES];
    struct window window = {0};
    int64_t time = now;
    (void)state;
    srandom(7);
    for (int i = 0; i < USES; i++) {
        time += random() % (HOUR / 2);
        times[i] = time;
        window_add(&window, PERIOD, time - random() % 1000, time, 10, time);
        int64_t exact = 0, loose = 0;
        for (int k = 0; k <= i; k++) {
            exact += times[k] > time - PERIOD ? 10 : 0;
            loose += times[k] > time - PERIOD - HOUR - 1000 ? 10 : 0;
        }
        int64_t told = window_used(&window, PERIOD, time);
        if (told < exact || told > loose)
            fail_msg("%d: %lld told, %lld exact, %lld at most", i, (long long)told,
                     (long long)exact, (long long)loose);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_used_at_first),
        cmocka_unit_test(what_was_used_counts_for_the_period),
        cmocka_unit_test(it_was_used_evenly),
        cmocka_unit_test(times_may_be_odd),
        cmocka_unit_test(it_never_tells_too_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
