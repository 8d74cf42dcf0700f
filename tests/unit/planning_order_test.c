/* tests/unit/planning_order_test.c - which jobs are handed over next while some have deadlines */
#include "tests/unit/planning_fixture.h"

static void without_deadlines_all_is_as_it_was(void **state)
{
    (void)state;
    put_rendered(.name = "low");
    put_rendered(.name = "high", .priority = 5);
    fake_has(1000, 0); /* nobody is held back */
    start_planning("");
    assert_string_equal(fake.submitted, "high low ");
    assert_false(plan_is_there());
}

static void deadlines_are_the_order_and_capacity_holds_back(void **state)
{
    (void)state;
    remember(100);
    const char *far = put_rendered(.name = "far", .deadline = 3600);
    const char *near = put_rendered(.name = "near", .deadline = 180);
    const char *none = put_rendered(.name = "none", .priority = 100);
    fake_has(2000, 1000); /* somebody else has the other one */
    start_planning("reserve: 0");
    assert_string_equal(fake.submitted, "near ");
    assert_true(in_state(far, STATE_RENDERED) && in_state(none, STATE_RENDERED));
    expect_status(near, "on track", NULL);
    expect_status(far, "on track", "waiting");
    expect_status(none, "best effort", "waiting");
    assert_true(strstr(event_of(near, STATE_SUBMITTED, "predicted"), "seconds=1") != NULL);
    struct planned_job waiting = planned(far);
    assert_true(waiting.finish > now + 100 * 1000 && waiting.late >= waiting.finish &&
                waiting.late < waiting.deadline);
    run_round(); /* it has not started: what is free is for it */
    assert_string_equal(fake.submitted, "near ");
    start_job(near);
    fake_has(2000, 0);
    run_round();
    assert_string_equal(fake.submitted, "near ");
    fake_has(2000, 1000); /* the other's has ended; ours holds the other one */
    run_round();
    assert_string_equal(fake.submitted, "near far ");
}

static void plan_with_shares(const char *limits)
{
    char settings[512];
    snprintf(settings, sizeof(settings),
             "executor: fake\nsync: none\nplanner: {tick: 5s, reserve: 0}\n%s"
             "shares: {weights: [{user: daemon, weight: 2}]}\n",
             limits);
    write_settings(settings);
    open_stage();
    run_round();
}

/* Where jobs are as urgent, daemon gets two for each one of bin; without weights each had three. */
static void shares_decide_between_equal_jobs(void **state)
{
    (void)state;
    remember(100);
    const char *due = put_rendered(.name = "due", .deadline = 180);
    for (int i = 0; i < 4; i++)
        put_rendered(.name = "bins", .owner = "bin", .uid = 2);
    for (int i = 0; i < 5; i++)
        put_rendered(.name = "daemons", .owner = "daemon", .uid = 1);
    put_rendered(.name = "before", .owner = "bin", .uid = 2, .priority = 5);
    fake_has(8000, 8000);
    plan_with_shares("");
    assert_string_equal(fake.submitted, "due before daemons daemons bins daemons daemons bins ");
    expect_status(due, "on track", NULL);
}

/* Whoever has waited for limits.turn goes before priorities only when owed most. */
static void who_has_had_much_is_not_overdue(void **state)
{
    (void)state;
    remember(100);
    put_submitted(.name = "due", .deadline = 3600);
    put_submitted(.name = "runs", .owner = "bin", .uid = 2);
    put_rendered(.name = "bins", .owner = "bin", .uid = 2, .priority = -5);
    put_rendered(.name = "daemons", .owner = "daemon", .uid = 1);
    fake_has(3000, 0);
    plan_with_shares("limits: {turn: 1m}\n");
    advance(61000);
    fake_has(3000, 1000);
    run_round();
    assert_string_equal(fake.submitted, "daemons ");
}

/* Not when the tick has come only. */
static void room_is_given_when_it_comes(void **state)
{
    (void)state;
    remember(100);
    put_submitted(.name = "runs", .deadline = 600);
    const char *ends = put_submitted(.name = "ends");
    const char *waits = put_rendered(.name = "waits");
    fake_has(3000, 0);
    start_planning("");
    assert_string_equal(fake.submitted, "");
    run_round_after(200);
    end_job(ends, STATE_DONE);
    fake_has(3000, 1000);
    run_round_after(200);
    assert_string_equal(fake.submitted, "waits ");
    start_job(waits);
    put_rendered(.name = "comes");
    run_round_after(200);
    assert_string_equal(fake.submitted, "waits comes ");
}

static void nobody_takes_the_memory_that_a_deadline_waits_for(void **state)
{
    (void)state;
    remember(100);
    put_rendered(.name = "big", .deadline = 600, .memory = 1 << 29);
    put_rendered(.name = "small", .memory = 1 << 27);
    fake_has(3000, 3000);
    fake.capacity.memory_free = 1 << 28;
    start_planning("reserve: 0");
    assert_string_equal(fake.submitted, "");
    fake.capacity.memory_free = (1 << 29) + (1 << 27);
    run_round();
    assert_string_equal(fake.submitted, "big small ");
}

/* But for one that will not be in time, or of which that is not known, nobody waits. */
static void memory_is_kept_for_who_can_be_in_time(void **state)
{
    (void)state;
    put_rendered(.name = "unknown", .deadline = 600, .memory = 1 << 29);
    put_rendered(.name = "over", .deadline = 1, .memory = 1 << 29);
    put_rendered(.name = "small", .memory = 1 << 27);
    fake_has(3000, 3000);
    fake.capacity.memory_free = 1 << 28;
    start_planning("reserve: 0");
    assert_string_equal(fake.submitted, "small ");
}

/* Otherwise those who come after it, without any, would go before it for ever. */
static void who_is_late_has_his_turn(void **state)
{
    (void)state;
    remember(100);
    const char *late = put_rendered(.name = "late", .deadline = 1);
    put_rendered(.name = "next");
    fake_has(1000, 1000);
    start_planning("");
    assert_string_equal(fake.submitted, "late ");
    expect_status(late, "late", NULL);
}

/* What is free is less than the plan gives in all, until the one that is to leave has left. */
static void who_has_a_place_takes_it_before_others_can(void **state)
{
    (void)state;
    remember(100);
    put_rendered(.name = "big", .deadline = 600, .cpus = 2000);
    put_rendered(.name = "small");
    const char *leaving = put_submitted(.name = "leaving", .cpus = 2000, .checkpoint = true);
    fake_has(3000, 1000);
    start_planning("dwell: 0, reserve: 0");
    assert_string_equal(fake.submitted, "small ");
    run_round();
    assert_true(is_told_to_stop(leaving));
}

static void what_never_fits_is_the_executors_to_refuse(void **state)
{
    (void)state;
    put_rendered(.name = "huge", .deadline = 3600, .cpus = 64000);
    put_rendered(.name = "fat", .memory = (int64_t)1 << 40);
    fake_has(2000, 0);
    start_planning("");
    assert_true(strstr(fake.submitted, "huge ") && strstr(fake.submitted, "fat "));
}

static void memory_holds_back_too(void **state)
{
    (void)state;
    put_rendered(.name = "fat", .deadline = 3600, .memory = 1 << 29);
    fake_has(2000, 2000);
    fake.capacity.memory_free = (1 << 29) - 1;
    start_planning("");
    assert_string_equal(fake.submitted, "");
    fake.capacity.memory_free = 1 << 29;
    run_round();
    assert_string_equal(fake.submitted, "fat ");
}

static void without_capacity_only_the_order_is_the_plans(void **state)
{
    (void)state;
    remember(100);
    put_rendered(.name = "far", .deadline = 3600);
    const char *near = put_rendered(.name = "near", .deadline = 1800, .size = 1000, .most = 8000);
    put_rendered(.name = "none");
    fake.told = false;
    start_planning("");
    assert_string_equal(fake.submitted, "near far none ");
    assert_int_equal(planned(near).next, 1000);
}

static void whose_outcome_is_unknown_goes_first(void **state)
{
    (void)state;
    const char *id = put_rendered(.name = "asked", .deadline = 3600);
    append_event(id, STATE_RENDERED, "2026-11-22T10:00:00.000Z intent attempt=1\n");
    fake_has(4000, 0); /* it may hold what is not free */
    start_planning("");
    assert_string_equal(fake.submitted, "asked ");
}

static void who_waits_can_be_killed_without_a_bell(void **state)
{
    (void)state;
    const char *id = put_rendered(.name = "unwanted", .deadline = 3600);
    fake_has(1000, 0);
    start_planning("");
    int job = open_job(id, STATE_RENDERED);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    run_round();
    assert_true(in_state(id, STATE_FAILED));
    assert_string_equal(fake.submitted, "");
}

/* A job with a deadline runs, so that there is a plan; beside it there is room for so many. */
static void plan_for(int others, const char *expected)
{
    put_submitted(.name = "dated", .deadline = 36000, .owner = "eve", .uid = 3000);
    fake_has(1000 + others * 1000, others * 1000);
    start_planning("");
    assert_string_equal(fake.submitted, expected);
}

static void priority_is_for_those_without_a_deadline(void **state)
{
    (void)state;
    put_rendered(.name = "low");
    put_rendered(.name = "high", .priority = 40);
    plan_for(1, "high ");
}

static void priority_weighs_more_than_being_short(void **state)
{
    (void)state;
    remember(100); /* ten units a second */
    put_rendered(.name = "short", .units = 100);
    put_rendered(.name = "long", .units = 10000, .priority = 60);
    plan_for(1, "long ");
}

static void owners_take_turns_whatever_jobs_are_called(void **state)
{
    (void)state;
    put_rendered(.name = "aaa");
    put_rendered(.name = "aab");
    put_rendered(.name = "zzz", .owner = "zoe", .uid = 2000);
    plan_for(2, "aaa zzz ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_deadlines_all_is_as_it_was),
        TEST(deadlines_are_the_order_and_capacity_holds_back),
        TEST(shares_decide_between_equal_jobs),
        TEST(who_has_had_much_is_not_overdue),
        TEST(room_is_given_when_it_comes),
        TEST(nobody_takes_the_memory_that_a_deadline_waits_for),
        TEST(memory_is_kept_for_who_can_be_in_time),
        TEST(who_is_late_has_his_turn),
        TEST(who_has_a_place_takes_it_before_others_can),
        TEST(what_never_fits_is_the_executors_to_refuse),
        TEST(memory_holds_back_too),
        TEST(without_capacity_only_the_order_is_the_plans),
        TEST(whose_outcome_is_unknown_goes_first),
        TEST(who_waits_can_be_killed_without_a_bell),
        TEST(priority_is_for_those_without_a_deadline),
        TEST(priority_weighs_more_than_being_short),
        TEST(owners_take_turns_whatever_jobs_are_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
