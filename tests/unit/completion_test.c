/* tests/unit/completion_test.c - when the tasks of several roles make an ended job */
#include "tests/unit/unit_arena.h"

#include "executors/completion.h"

static struct error error;

enum { MOST_TASKS = 16 };

/* "w0 w=0 p=1": running, succeeded, ended with 1; the index is the place within the role. */
static size_t tasks_of(const char *written, struct task_state *tasks)
{
    struct text rest = text_of(written), word;
    size_t count = 0;
    memset(tasks, 0, MOST_TASKS * sizeof(*tasks));
    while (text_next(&rest, ' ', &word)) {
        struct task_state *task = &tasks[count];
        task->role[0] = word.data[0];
        task->index = (int)count++;
        if (word.length > 2) {
            task->ended = true;
            task->exit_code = word.data[2] - '0';
        }
    }
    return count;
}

static void decides(const char *rule, const char *written, size_t missing,
                    enum completion_state state, int decider)
{
    struct task_state tasks[MOST_TASKS];
    size_t count = tasks_of(written, tasks);
    struct completion_rule *read = completion_read(arena, text_of(rule), &error);
    if (!read)
        fail_msg("%s", error.text);
    struct completion_outcome verdict = completion_judge(read, tasks, count, count + missing);
    if (verdict.state != state || (verdict.decider ? verdict.decider->index : -1) != decider)
        fail_msg("%s of %s: %d by %d, expected %d by %d", rule, written, (int)verdict.state,
                 verdict.decider ? verdict.decider->index : -1, (int)state, decider);
}

static void without_a_rule_one_failure_fails_and_all_successes_succeed(void **state)
{
    (void)state;
    decides("", "w w", 0, COMPLETION_RUNNING, -1);
    decides("", "w=0 w", 0, COMPLETION_RUNNING, -1);
    decides("", "w=0 w=0", 0, COMPLETION_SUCCEEDED, 1);
    decides("", "w=0 w=0", 1, COMPLETION_RUNNING, -1);
    decides("", "w w=3 p", 0, COMPLETION_FAILED, 1);
    decides("", "", 0, COMPLETION_RUNNING, -1);
    decides("", "", 2, COMPLETION_RUNNING, -1);
    decides("{}", "w=0 w=1", 1, COMPLETION_FAILED, 1);
}

static void enough_successes_of_one_role_are_enough(void **state)
{
    (void)state;
    static const char rule[] = "{\"w\":{\"succeeded\":2}}";
    decides(rule, "p p w=0 w", 0, COMPLETION_RUNNING, -1);
    decides(rule, "p p w=0 w=0", 0, COMPLETION_SUCCEEDED, 3);
    decides(rule, "p=0 p=0 w w", 0, COMPLETION_RUNNING, -1);
    decides(rule, "p=1 p w=0 w=0", 0, COMPLETION_FAILED, 0);
    decides("{\"w\":{\"succeeded\":-1}}", "p w=0", 0, COMPLETION_RUNNING, -1);
}

static void so_many_failures_fail(void **state)
{
    (void)state;
    static const char rule[] = "{\"w\":{\"failed\":2}}";
    decides(rule, "w=1 w w", 0, COMPLETION_RUNNING, -1);
    decides(rule, "w=1 w w=1", 0, COMPLETION_FAILED, 2);
    decides(rule, "w=1 w=0 w=0", 0, COMPLETION_SUCCEEDED, 2);
    decides(rule, "w=1 w p=1", 0, COMPLETION_FAILED, 2);
    decides("{\"w\":{\"failed\":-1}}", "w=1 w=1 w=1", 0, COMPLETION_SUCCEEDED, 2);
    decides("{\"w\":{\"failed\":-1}}", "w=1 w=1 w", 0, COMPLETION_RUNNING, -1);
}

static void tasks_may_come_in_any_order(void **state)
{
    (void)state;
    decides("{\"w\":{\"failed\":2,\"succeeded\":2}}", "w=0 p w=1 p w=0 p", 0, COMPLETION_SUCCEEDED,
            4);
    decides("{\"w\":{\"failed\":2,\"succeeded\":2}}", "w=0 p w=1 p w=1 p w=0", 0, COMPLETION_FAILED,
            4);
}

static void lost_tasks_may_be_started_again(void **state)
{
    (void)state;
    const struct completion_rule *rule =
        completion_read(arena, text_of("{\"w\":{\"failed\":2,\"again\":3},\"ps\":{}}"), NULL);
    assert_int_equal(completion_again(rule, "w", 1), 3);
    assert_int_equal(completion_again(rule, "w", 0), 0); /* the others meet there */
    assert_int_equal(completion_again(rule, "ps", 1), 0);
    assert_int_equal(completion_again(rule, "x", 1), 0);
    assert_int_equal(completion_again(NULL, "w", 1), 0);
    assert_true(completion_has_again(rule));
    assert_false(completion_has_again(completion_read(arena, text_of("{\"w\":{}}"), NULL)));
    assert_false(completion_has_again(NULL));
}

static void tasks_may_be_judged_each_by_itself(void **state)
{
    (void)state;
    static const char rule[] = "{\"w\":{\"each\":true}}";
    decides(rule, "w=1 w=0 w", 0, COMPLETION_RUNNING, -1);
    decides(rule, "w=1 w=0 w=0", 1, COMPLETION_RUNNING, -1);
    decides(rule, "w=0 w=0 w=0", 0, COMPLETION_SUCCEEDED, 2);
    decides(rule, "w=0 w=2 w=1", 0, COMPLETION_FAILED, 1);
    /* Another role keeps its rule. */
    decides(rule, "w p=1 w", 0, COMPLETION_FAILED, 1);
    decides(rule, "w=1 p=0 w=0", 0, COMPLETION_FAILED, 0);
    decides("{\"w\":{\"each\":false}}", "w=1 w", 0, COMPLETION_FAILED, 0);
    struct task_state tasks[] = {{.role = "w", .index = 5, .ended = true, .exit_code = 1},
                                 {.role = "w", .index = 2, .ended = true, .exit_code = 3},
                                 {.role = "w", .index = 9, .ended = true}};
    struct completion_outcome verdict =
        completion_judge(completion_read(arena, text_of(rule), &error), tasks, 3, 3);
    assert_int_equal(verdict.state, COMPLETION_FAILED);
    assert_ptr_equal(verdict.decider, &tasks[1]);
    assert_true(verdict.each);
    /* What somebody killed decides only where nothing else has failed, and has failed itself. */
    struct completion_rule *each = completion_read(arena, text_of(rule), &error);
    tasks[1].killed = true;
    assert_ptr_equal(completion_judge(each, tasks, 3, 3).decider, &tasks[0]);
    tasks[0].exit_code = tasks[1].exit_code = 0;
    verdict = completion_judge(each, tasks, 3, 3);
    assert_int_equal(verdict.state, COMPLETION_FAILED);
    assert_ptr_equal(verdict.decider, &tasks[1]);
}

static void wrong_rules_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"[]", "expected an object of roles"},
        {"{\"w\":1}", "w: expected {failed: N, succeeded: N}"},
        {"{\"w\":{\"fail\":1}}", "w.fail: unknown field"},
        {"{\"w\":{\"failed\":0}}", "w.failed: expected a whole number from 1, or -1"},
        {"{\"w\":{\"failed\":1.5}}", "w.failed: expected"},
        {"{\"w\":{\"failed\":1e300}}", "w.failed: expected"},
        {"{\"w\":{\"succeeded\":\"2\"}}", "w.succeeded: expected"},
        {"{", "rule:1"},
        {"{\"w\":{\"each\":1}}", "w.each: expected true or false"},
        {"{\"w\":{\"each\":true,\"failed\":1}}", "w.each: expected no failed, succeeded or again"},
        {"{\"w\":{\"each\":true,\"again\":1}}", "w.each: expected no failed, succeeded or again"},
        {"{\"w\":{\"again\":-1}}", "w.again: expected a whole number from 0 to 1000"},
        {"{\"w\":{\"again\":true}}", "w.again: expected a whole number"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        assert_null(completion_read(arena, text_of(wrong[i][0]), &error));
        if (!strstr(error.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_rule_one_failure_fails_and_all_successes_succeed),
        cmocka_unit_test(enough_successes_of_one_role_are_enough),
        cmocka_unit_test(so_many_failures_fail),
        cmocka_unit_test(tasks_may_come_in_any_order),
        cmocka_unit_test(lost_tasks_may_be_started_again),
        cmocka_unit_test(tasks_may_be_judged_each_by_itself),
        cmocka_unit_test(wrong_rules_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
