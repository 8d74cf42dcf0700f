/* timeline_test.c - planner/timeline.c: what is free, against an array with a place for each second */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "planner/timeline.h"
#include "simulation/random.h"

enum { SECONDS = 200, FREE = 64, TURNS = 3000 };

static int free_at(const struct timeline *timeline, double time)
{
    int found = timeline->segments[0].free;
    for (size_t i = 0; i < timeline->count && timeline->segments[i].start <= time; i++)
        found = timeline->segments[i].free;
    return found;
}

static void compare(const struct timeline *timeline, const int *model)
{
    assert_true(timeline->count >= 1);
    for (size_t i = 1; i < timeline->count; i++) {
        assert_true(timeline->segments[i - 1].start < timeline->segments[i].start);
        assert_int_not_equal(timeline->segments[i - 1].free, timeline->segments[i].free);
    }
    for (int second = 0; second < SECONDS; second++)
        assert_int_equal(free_at(timeline, second + 0.5), model[second]);
    assert_int_equal(free_at(timeline, 1e9), FREE);
}

struct taken {
    int from, to, size;
};

static void takes_and_gives_back_as_an_array_does(void **state)
{
    (void)state;
    struct timeline timeline = {0}, copy = {0};
    struct random random = {11};
    struct taken taken[TURNS];
    int model[SECONDS], count = 0;
    for (int i = 0; i < SECONDS; i++)
        model[i] = FREE;
    timeline_reset(&timeline, 0, FREE);
    for (int turn = 0; turn < TURNS; turn++) {
        struct taken one = {(int)(random_uniform(&random) * SECONDS),
                            (int)(random_uniform(&random) * SECONDS),
                            (int)(random_uniform(&random) * 9)};
        bool back = count > 0 && (count > 20 || random_uniform(&random) < 0.4);
        if (back) {
            int which = (int)(random_uniform(&random) * count);
            one = taken[which];
            taken[which] = taken[--count];
            one.size = -one.size;
        } else {
            taken[count++] = one;
        }
        timeline_take(&timeline, one.from, one.to, one.size);
        for (int second = one.from; second < one.to; second++)
            model[second] -= one.size;
        compare(&timeline, model);
        timeline_copy(&copy, &timeline);
        compare(&copy, model);
    }
    while (count-- > 0)
        timeline_take(&timeline, taken[count].from, taken[count].to, -taken[count].size);
    assert_int_equal(timeline.count, 1);
    timeline_free(&copy);
    timeline_free(&timeline);
}

static void takes_for_ever(void **state)
{
    (void)state;
    struct timeline timeline = {0};
    timeline_reset(&timeline, 5, 4);
    timeline_take(&timeline, 7, (double)INFINITY, 3);
    assert_int_equal(free_at(&timeline, 6), 4);
    assert_int_equal(free_at(&timeline, 1e12), 1);
    timeline_take(&timeline, 7, (double)INFINITY, -3);
    assert_int_equal(free_at(&timeline, 1e12), 4);
    timeline_take(&timeline, 9, 9, 2);
    timeline_take(&timeline, 9, 8, 2);
    assert_int_equal(free_at(&timeline, 9), 4);
    timeline_free(&timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_and_gives_back_as_an_array_does),
        cmocka_unit_test(takes_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
