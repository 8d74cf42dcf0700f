/* decay_test.c - base/decay.c: amounts count half after each half-life, and as of now when they are dated later */
#include "tests/unit/unit.h"

#include <math.h>

#include "base/decay.h"

static const int64_t day = 86400000;

static void amounts_decay(void **state)
{
    (void)state;
    assert_true(decay_factor(day, day) == 0.5 && decay_factor(-day, day) == 1);
    /* The mean over a time is that of its moments. */
    double sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += decay_factor(day + i * day / 1000 + day / 2000, day) / 1000;
    assert_true(fabs(decay_mean(-2 * day, -day, 0, day) - sum) < 1e-6);
    assert_true(decay_mean(5, 5, 5 + day, day) == 0.5);
    assert_true(decay_mean(day, 2 * day, 0, day) == 1);
    assert_true(fabs(decay_mean(-1, day, 0, day) - 1) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
