/* jobs that stay open for a moment: which are given back, and that none is left open */
#include "stages/submit/opened.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"

enum { MOST = 3 };

static struct opened *opened;
static int64_t elapsed;

static int64_t read_elapsed(void)
{
    return elapsed;
}

static int setup(void **state)
{
    (void)state;
    elapsed = 5000;
    clock_replace(NULL, read_elapsed);
    opened = opened_new(MOST);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    opened_free(opened);
    clock_replace(NULL, NULL);
    return 0;
}

/* Keep a job whose record has that priority. */
static int keep(const char *id, int priority)
{
    int job = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct job_record record = {.id = text_of(id), .priority = priority};
    opened_keep(opened, id, job, &record);
    return job;
}

static bool is_open(int job)
{
    return fcntl(job, F_GETFD) >= 0;
}

static void what_is_taken_is_the_takers(void **state)
{
    (void)state;
    struct job_record record = {.priority = 0};
    int one = keep("one", 1), two = keep("two", 2);
    assert_int_equal(opened_take(opened, "three", &record), -1);
    assert_int_equal(opened_take(opened, "two", &record), two);
    assert_int_equal(record.priority, 2);
    assert_int_equal(opened_take(opened, "two", &record), -1);
    opened_clear(opened);
    assert_false(is_open(one));
    assert_true(is_open(two));
    assert_int_equal(opened_take(opened, "one", &record), -1);
    close(two);
}

static void what_is_old_or_changed_is_not_given_back(void **state)
{
    (void)state;
    struct job_record record = {.priority = 0};
    int old = keep("old", 1), changed = keep("changed", 2), again = keep("again", 3);
    opened_forget(opened, "changed");
    assert_false(is_open(changed));
    assert_int_equal(opened_take(opened, "changed", &record), -1);
    int newer = keep("again", 4);
    assert_true(again == newer || !is_open(again));
    elapsed += 1000;
    assert_int_equal(opened_take(opened, "again", &record), newer);
    assert_int_equal(record.priority, 4);
    close(newer);
    elapsed++;
    assert_int_equal(opened_take(opened, "old", &record), -1);
    assert_false(is_open(old));
}

static void no_more_are_kept_than_may_be(void **state)
{
    (void)state;
    assert_non_null(opened_arena(opened));
    keep("one", 1), keep("two", 2), keep("three", 3);
    assert_null(opened_arena(opened));
    assert_false(is_open(keep("four", 4)));
    opened_clear(opened);
    arena_allocate(opened_arena(opened), 17 << 20);
    assert_null(opened_arena(opened));
    opened_clear(opened);
    assert_non_null(opened_arena(opened));
}

#define OPENED_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPENED_TEST(what_is_taken_is_the_takers),
        OPENED_TEST(what_is_old_or_changed_is_not_given_back),
        OPENED_TEST(no_more_are_kept_than_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
