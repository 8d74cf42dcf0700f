/* the sizes that a job can have: which there are, and how they are said */
#include "tests/unit/unit.h"

#include "job/sizes.h"

static void check(const char *expected, enum size_kind kind, int64_t least, int64_t most,
                  int64_t step)
{
    struct sizes sizes = {kind, least, most, step};
    int64_t list[SIZES_MOST];
    struct buffer found = {0};
    size_t count = sizes_list(&sizes, list);
    buffer_add_string(&found, "");
    for (size_t i = 0; i < count; i++)
        buffer_printf(&found, "%s%lld", i ? " " : "", (long long)list[i]);
    assert_string_equal(found.data, expected);
    buffer_free(&found);
}

static void sizes_are_listed(void **state)
{
    (void)state;
    check("", SIZE_FIXED, 1, 8, 0);
    check("1 2 4 8", SIZE_TASKS, 1, 8, 0);
    check("3 6 8", SIZE_GPUS, 3, 8, 0);
    check("5", SIZE_TASKS, 5, 5, 0);
    check("5", SIZE_TASKS, 5, 5, 3);
    check("500 1000 2000 3000", SIZE_CPUS, 500, 3000, 0);
    check("1 2 3 4", SIZE_TASKS, 1, 4, 1);
    check("2 5 8", SIZE_TASKS, 2, 8, 3);
    check("2 5 7", SIZE_TASKS, 2, 7, 3);
    check("2 7", SIZE_TASKS, 2, 7, 100);
}

/* Whatever the bounds: ascending, the first and the last among them, not too many. */
static void many_sizes_are_thinned(void **state)
{
    (void)state;
    static const int64_t bounds[] = {1, 2, 7, 10, 999, 1000, 100000000, INT64_MAX};
    static const int64_t steps[] = {0, 1, 3, 10, 12345, INT64_MAX};
    int64_t list[SIZES_MOST];
    for (size_t i = 0; i < 8; i++)
        for (size_t j = i; j < 8; j++)
            for (size_t k = 0; k < 6; k++) {
                struct sizes sizes = {SIZE_CPUS, bounds[i], bounds[j], steps[k]};
                size_t count = sizes_list(&sizes, list);
                assert_in_range(count, 1, SIZES_MOST);
                assert_int_equal(list[0], bounds[i]);
                assert_int_equal(list[count - 1], bounds[j]);
                for (size_t n = 1; n < count; n++)
                    assert_true(list[n] > list[n - 1]);
            }
}

static void sizes_are_said(void **state)
{
    (void)state;
    char buffer[SIZE_TEXT_SIZE];
    assert_string_equal(size_text(SIZE_TASKS, 4, buffer), "4 tasks");
    assert_string_equal(size_text(SIZE_TASKS, 1, buffer), "1 task");
    assert_string_equal(size_text(SIZE_GPUS, 2, buffer), "2 GPUs");
    assert_string_equal(size_text(SIZE_GPUS, 1, buffer), "1 GPU");
    assert_string_equal(size_text(SIZE_CPUS, 1500, buffer), "1.5 CPUs");
    assert_string_equal(size_text(SIZE_CPUS, 1000, buffer), "1 CPU");
    assert_string_equal(size_text(SIZE_CPUS, 1, buffer), "0.001 CPUs");
    assert_string_equal(size_text(SIZE_FIXED, 3, buffer), "3");
    assert_string_equal(size_text(SIZE_TASKS, INT64_MAX, buffer), "9223372036854775807 tasks");
    assert_string_equal(size_kind_name(SIZE_FIXED), "fixed");
    assert_string_equal(size_kind_name(SIZE_TASKS), "tasks");
    assert_string_equal(size_kind_name(SIZE_GPUS), "gpus");
    assert_string_equal(size_kind_name(SIZE_CPUS), "cpus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_listed),
        cmocka_unit_test(many_sizes_are_thinned),
        cmocka_unit_test(sizes_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
