/* tests/unit/guard_test.c - whom a process is blamed on, and how a batch comes down to one job */
#include "tests/unit/unit.h"

#include "base/clock.h"
#include "stages/guard.h"

static struct guard *guard;
static int64_t now = 1000;

static int64_t tell_elapsed(void)
{
    return now;
}

static int set_up(void **state)
{
    struct error error;
    (void)state;
    clock_replace(NULL, tell_elapsed);
    guard = guard_new(&error);
    return guard ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    guard_free(guard);
    return 0;
}

/* A process enters, and ends; the next one counts that. */
static void end_over(const char *name)
{
    guard_enter(guard, name, 0);
    guard_count(guard, "track");
    assert_false(guard_blames(guard));
}

static void ends_over_a_job_are_counted(void **state)
{
    (void)state;
    assert_int_equal(guard_tries(guard, "a-1"), 0);
    guard_count(guard, "track"); /* it ended over nothing */
    enum { PROMISED = 3 };       /* by the page on reliability */
    for (int i = 1; i <= PROMISED; i++) {
        end_over("a-1");
        assert_int_equal(guard_tries(guard, "a-1"), i);
    }
    assert_int_equal(guard_tries(guard, "b-1"), 0);
    guard_enter(guard, "b-1", 0);
    guard_leave(guard);
    guard_count(guard, "track");
    assert_int_equal(guard_tries(guard, "b-1"), 0);
    guard_passed(guard, "a-1"); /* it may show at every second look only */
    assert_int_equal(guard_tries(guard, "a-1"), GUARD_MOST_TRIES);
    now += 601000;
    guard_passed(guard, "a-1");
    assert_int_equal(guard_tries(guard, "a-1"), 0);
    guard_shun(guard, "a-1");
    guard_passed(guard, "a-1");
    assert_int_equal(guard_tries(guard, "a-1"), GUARD_SHUNNED);
}

static void the_most_blamed_are_remembered(void **state)
{
    (void)state;
    char name[32];
    end_over("a-1");
    end_over("a-1");
    for (int i = 0; i < 3 * GUARD_COUNTED; i++) {
        snprintf(name, sizeof(name), "innocent-%d", i);
        end_over(name);
    }
    assert_int_equal(guard_tries(guard, "a-1"), 2);
    assert_int_equal(guard_tries(guard, name), 1);
}

static void a_batch_comes_down_to_one_job(void **state)
{
    (void)state;
    assert_int_equal(guard_narrow(guard, 256), 256);
    assert_false(guard_is_narrow(guard));
    for (size_t size = 16; size >= 1; size /= 16) {
        end_over("");
        assert_int_equal(guard_narrow(guard, 256), size);
    }
    for (int i = 0; i < 10; i++)
        end_over("");
    assert_int_equal(guard_narrow(guard, 1024), 1);
    assert_true(guard_is_narrow(guard));
    guard_widen(guard);
    assert_int_equal(guard_narrow(guard, 256), 1);
    now += 61000;
    guard_widen(guard);
    assert_int_equal(guard_narrow(guard, 256), 1);
    guard_widen(guard);
    assert_int_equal(guard_narrow(guard, 256), 16);
    guard_widen(guard);
    assert_int_equal(guard_narrow(guard, 256), 256);
    assert_false(guard_is_narrow(guard));
}

static void what_is_read_in_passing_is_blamed(void **state)
{
    (void)state;
    struct guard_before before;
    guard_enter(guard, "outer-1", 0);
    assert_true(guard_begin(guard, "inner-1", &before));
    assert_string_equal(guard->name, "inner-1");
    guard_return(guard, &before);
    assert_true(guard_blames(guard));
    assert_string_equal(guard->name, "outer-1");
    guard_leave(guard);
    assert_true(guard_begin(guard, "inner-1", &before));
    guard_return(guard, &before);
    assert_false(guard_blames(guard));
    for (int i = 0; i < GUARD_MOST_TRIES; i++) {
        assert_true(guard_begin(guard, "inner-1", &before));
        guard_count(guard, "submit");
    }
    assert_false(guard_begin(guard, "inner-1", &before));
    guard_clear(guard);
    assert_true(guard_begin(guard, "inner-1", &before));
}

static void there_need_be_none(void **state)
{
    (void)state;
    guard_enter(NULL, "a-1", 0);
    guard_count(NULL, "track");
    guard_passed(NULL, "a-1");
    guard_shun(NULL, "a-1");
    guard_widen(NULL);
    guard_clear(NULL);
    assert_false(guard_is_narrow(NULL));
    struct guard_before before;
    assert_true(guard_begin(NULL, "a-1", &before));
    guard_return(NULL, &before);
    assert_int_equal(guard_tries(NULL, "a-1"), 0);
    assert_int_equal(guard_narrow(NULL, 7), 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_over_a_job_are_counted),
        TEST(the_most_blamed_are_remembered),
        TEST(a_batch_comes_down_to_one_job),
        TEST(what_is_read_in_passing_is_blamed),
        TEST(there_need_be_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
