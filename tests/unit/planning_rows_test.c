/* tests/unit/planning_rows_test.c - a plan under rows of limits.rows: who may not start holds no place in it, and nobody
 * gets a size that the rows do not allow
 *
 * Seen to fail with: tests/mutants/planning-rows-*.patch.
 */
#include "tests/unit/planning_fixture.h"

static void plan_under(const char *rows)
{
    char settings[512];
    snprintf(settings, sizeof(settings),
             "executor: fake\nsync: none\nplanner: {tick: 5s, reserve: 0}\nlimits: {rows: [%s]}\n",
             rows);
    write_settings(settings);
    open_stage();
    run_round();
}

static void who_is_over_a_row_holds_no_place(void **state)
{
    (void)state;
    remember(100);
    put_submitted(.name = "runs", .deadline = 3600);
    const char *over = put_rendered(.name = "over", .deadline = 120);
    put_rendered(.name = "other", .owner = "bob", .uid = 1001);
    fake_has(2000, 1000);
    plan_under("{user: \"*\", running: 1}");
    assert_string_equal(fake.submitted, "other ");
    expect_status(over, "at risk", "waiting for room under limits.rows");
    int job = open_job(over, STATE_RENDERED);
    struct buffer why = {0};
    assert_int_equal(file_read_at(job, "why", 1 << 16, &why, NULL), 0);
    assert_non_null(strstr(why.data, "user ann has 1 job running, and no more may"));
    buffer_free(&why);
    close(job);
}

static void it_starts_when_there_is_room(void **state)
{
    (void)state;
    remember(100);
    const char *runs = put_submitted(.name = "runs", .deadline = 3600);
    const char *over = put_rendered(.name = "over", .deadline = 900);
    fake_has(2000, 1000);
    plan_under("{user: \"*\", running: 1}");
    assert_string_equal(fake.submitted, "");
    end_job(runs, STATE_DONE);
    fake_has(2000, 2000);
    run_round();
    run_round();
    assert_string_equal(fake.submitted, "over ");
    assert_true(in_state(over, STATE_SUBMITTED));
}

/* Of two that fit alone, and not together, the one that goes first is planned. */
static void the_rest_waits_for_the_first(void **state)
{
    (void)state;
    remember(100);
    put_rendered(.name = "later", .deadline = 900, .cpus = 2000);
    put_rendered(.name = "sooner", .deadline = 200, .cpus = 2000);
    put_rendered(.name = "other", .owner = "bob", .uid = 1001, .cpus = 2000);
    fake_has(4000, 4000);
    plan_under("{user: \"*\", cpus: 3}");
    assert_string_equal(fake.submitted, "sooner other ");
}

static void a_size_is_what_rows_allow(void **state)
{
    (void)state;
    remember(100);
    put_rendered(.name = "hurried", .size = 1000, .deadline = 90);
    fake_has(4000, 4000);
    plan_under("{user: \"*\", cpus: 1}");
    assert_string_equal(fake.submitted, "hurried ");
    assert_int_equal(fake.rendered, 0);
    close_stage();
    put_rendered(.name = "next", .size = 1000, .deadline = 90, .owner = "bob", .uid = 1001);
    fake_has(4000, 4000);
    plan_under("{user: \"*\", cpus: 3}");
    assert_string_equal(fake.submitted, "hurried next ");
    assert_int_equal(fake.rendered, 2000);
}

static bool is_told_to_grow(const char *id)
{
    return *event_of(id, STATE_SUBMITTED, "resize") != '\0';
}

static void nobody_grows_beyond_a_row(void **state)
{
    (void)state;
    fake.resizable = true;
    const char *id = put_submitted(.name = "grows", .size = 1000, .units = 100000, .done = 100,
                                   .rate = 1, .deadline = 60000);
    fake_has(4000, 3000);
    plan_under("{user: \"*\", cpus: 1}");
    run_round();
    run_round();
    assert_false(is_told_to_grow(id));
    close_stage();
    plan_under("{user: \"*\", cpus: 2}");
    run_round();
    run_round();
    assert_true(is_told_to_grow(id));
    assert_non_null(strstr(event_of(id, STATE_SUBMITTED, "resize"), "to=2000 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_is_over_a_row_holds_no_place), TEST(it_starts_when_there_is_room),
        TEST(the_rest_waits_for_the_first),     TEST(a_size_is_what_rows_allow),
        TEST(nobody_grows_beyond_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
