/* tally_test.c - base/tally.c: processes count in shared memory, each by itself */
#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/tally.h"
#include "tests/unit/unit_arena.h"

struct found {
    uint64_t count;
    double sum;
    const char *name;
};

static void visit(void *context, struct text name, uint64_t count, double sum)
{
    struct found *found = context;
    if (!text_is(name, found->name))
        return;
    found->count += count;
    found->sum += sum;
}

static struct found find(const char *name)
{
    struct found found = {.name = name};
    tally_each(visit, &found);
    return found;
}

static void in_child(size_t process, int times)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tally_use(process);
        for (int i = 0; i < times; i++)
            tally_add("jobs_total", "a=\"b\"", 0.5);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void processes_count_by_themselves(void **state)
{
    (void)state;
    tally_add("jobs_total", "", 1); /* nobody has started */
    assert_int_equal(find("jobs_total").count, 0);
    assert_false(tally_wants_before());
    assert_int_equal(tally_start(2, &error), 0);
    in_child(0, 3);
    in_child(1, 2);
    in_child(0, 1); /* the process was started again */
    struct found found = find("jobs_total{a=\"b\"}");
    assert_int_equal(found.count, 6);
    assert_true(found.sum > 2.99 && found.sum < 3.01);
    assert_true(tally_wants_before());
    tally_before(TEXT("jobs_total{a=\"b\"}"), 10, 5);
    tally_has_before();
    assert_false(tally_wants_before());
    assert_int_equal(find("jobs_total{a=\"b\"}").count, 16);
    tally_clear();
    assert_true(tally_wants_before());
    assert_int_equal(find("jobs_total{a=\"b\"}").count, 0);
    tally_end();
}

static void count_all(void *context, struct text name, uint64_t count, double sum)
{
    (void)name, (void)sum;
    *(uint64_t *)context += count;
}

/* Prometheus would read two series. */
static void a_name_is_one_line(void **state)
{
    uint64_t all = 0;
    (void)state;
    assert_int_equal(tally_start(1, &error), 0);
    tally_use(0);
    tally_add("jobs_total", "a=\"b\"", 1);
    tally_add("jobs_total", "a=\"\n\"", 1);
    tally_each(count_all, &all);
    assert_int_equal(all, 1);
    tally_end();
}

static void what_is_beyond_is_dropped(void **state)
{
    (void)state;
    char labels[32];
    assert_int_equal(tally_start(1, &error), 0);
    tally_use(0);
    for (int i = 0; i < TALLY_NAMES + 10; i++) {
        snprintf(labels, sizeof(labels), "n=\"%d\"", i);
        tally_add("jobs_total", labels, 1);
    }
    assert_int_equal(find("jobs_total{n=\"127\"}").count, 1);
    assert_int_equal(find("jobs_total{n=\"128\"}").count, 0);
    tally_add("jobs_total", "n=\"3\"", 1);
    assert_int_equal(find("jobs_total{n=\"3\"}").count, 2);
    tally_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_count_by_themselves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_beyond_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_is_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
