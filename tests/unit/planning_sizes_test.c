/* tests/unit/planning_sizes_test.c - at what size planned jobs begin, and who is to have another */
#include "tests/unit/planning_fixture.h"

/* ---- jobs that have not begun ---- */

static void many_are_rendered_anew_by_and_by(void **state)
{
    (void)state;
    remember(100);
    for (int i = 0; i < 40; i++)
        put_rendered(.name = "j", .size = 1000, .deadline = 90);
    fake_has(1 << 20, 1 << 20);
    start_stage("");
    advance(5000);
    int64_t due = submit_stage.round(stage);
    assert_int_equal(strlen(fake.submitted), 2 * 32);
    assert_true(due <= elapsed);
    submit_stage.round(stage);
    assert_int_equal(strlen(fake.submitted), 2 * 40);
}

static void who_needs_it_starts_larger(void **state)
{
    (void)state;
    remember(100);
    const char *id = put_rendered(.name = "hurried", .size = 1000, .deadline = 90);
    fake_has(4000, 4000);
    start_planning("");
    assert_string_equal(fake.submitted, "hurried ");
    assert_true(fake.rendered >= 2000);
    assert_int_equal(planned(id).next, fake.rendered);
}

/* A job that has time, of that size; it is rendered again at another, or (0) not. */
static void starts_at(int64_t size, int64_t cpus_free, int64_t expected)
{
    put_rendered(.name = "patient", .size = size, .deadline = 3600);
    fake_has(4000, cpus_free);
    start_planning("");
    assert_string_equal(fake.submitted, "patient ");
    assert_int_equal(fake.rendered, expected);
}

static void nobody_starts_larger_for_nothing(void **state)
{
    (void)state;
    remember(100);
    starts_at(1000, 4000, 0); /* it would save less than a minute */
}

static void nobody_starts_larger_upon_a_guess(void **state)
{
    (void)state;
    starts_at(1000, 4000, 0);
}

static void who_has_time_starts_smaller(void **state)
{
    (void)state;
    remember(100);
    starts_at(4000, 2000, 1000);
}

/* ---- running jobs ---- */

static struct resize_request target; /* the one that was found last */

static bool is_asked_for(const char *id)
{
    struct job_record record = make_record(id);
    int job = open_job(id, STATE_SUBMITTED);
    int result = resize_pending(job, &record, &target);
    close(job);
    return result == 1;
}

/* A job of one processor that has done 20 of 100 units in 100 s, beside three that are free. */
static const char *put_slow(int64_t deadline)
{
    fake.resizable = true;
    fake_has(4000, 3000);
    return put_submitted(.name = "running", .size = 1000, .deadline = deadline, .units = 100,
                         .done = 20, .rate = 0.2);
}

static void who_falls_behind_is_grown(void **state)
{
    (void)state;
    const char *id = put_slow(300); /* 80 units take 400 s as it is */
    start_planning("dwell: 60s");
    assert_true(is_asked_for(id));
    assert_int_equal(target.from, 1000);
    assert_true(target.to > 1000 && target.generation == 1);
    assert_true(strstr(target.reason, "falls behind: predicted ") != NULL);
    assert_true(strstr(event_of(id, STATE_SUBMITTED, "resize"), "instead of 1 CPU") != NULL);
    expect_status(id, "on track", NULL);
}

static void who_would_miss_it_all_the_same_is_in_no_hurry(void **state)
{
    (void)state;
    const char *id = put_slow(100); /* 400 s as it is, 200 s with all there is */
    start_planning("dwell: 0");
    expect_status(id, "cannot meet", NULL);
    assert_false(is_asked_for(id));
    run_round();
    assert_true(is_asked_for(id)); /* it saves enough */
}

/* A job that is stopped for it loses what it holds: the room is to be there. */
static void nobody_grows_before_there_is_room(void **state)
{
    (void)state;
    const char *id = put_submitted(.name = "running", .size = 1000, .deadline = 3600, .units = 1000,
                                   .checkpoint = true, .done = 20, .rate = 0.2); /* 4900 s more */
    const char *other = put_submitted(.name = "other", .cpus = 3000, .checkpoint = true);
    fake_has(4000, 0);
    start_planning("dwell: 0, reserve: 0");
    run_round();
    assert_true(planned(id).next > 1000);
    assert_true(is_told_to_stop(other));
    assert_false(is_asked_for(id));
    end_job(other, STATE_FAILED);
    fake_has(4000, 3000);
    run_round();
    assert_true(is_asked_for(id));
}

static void nothing_is_changed_before_the_dwell_time_is_over(void **state)
{
    (void)state;
    const char *id = put_slow(300);
    start_planning("dwell: 3m"); /* it runs for 100 s */
    assert_false(is_asked_for(id));
    expect_status(id, "at risk", "at its present size");
}

static void what_cannot_be_changed_is_left_alone(void **state)
{
    (void)state;
    const char *id = put_slow(300);
    fake.resizable = false;
    start_planning("dwell: 0");
    assert_false(is_asked_for(id));
}

static void what_has_not_started_yet_is_left_alone(void **state)
{
    (void)state;
    remember(100);
    const char *id = put_rendered(.name = "waiting", .checkpoint = true);
    put_submitted(.name = "dated", .deadline = 36000);
    fake_has(2000, 1000);
    start_planning("dwell: 0, reserve: 0");
    assert_string_equal(fake.submitted, "waiting ");
    put_rendered(.name = "urgent", .deadline = 150);
    for (int i = 0; i < 3; i++)
        run_round();
    assert_string_equal(event_of(id, STATE_SUBMITTED, "resize"), "");
    start_job(id);
    for (int i = 0; i < 3; i++)
        run_round();
    assert_true(is_told_to_stop(id));
}

/* A job without a deadline, of which so many of 100 units are done in as many seconds, is to make
 * room for another. */
static const char *put_in_the_way(double done)
{
    remember(100);
    const char *id = put_submitted(.name = "first", .units = 100, .checkpoint = true, .done = done,
                                   .rate = 1, .restart = 60000);
    put_rendered(.name = "urgent", .deadline = 170);
    fake_has(1000, 0);
    start_planning("dwell: 0, reserve: 0");
    run_round();
    return id;
}

static void who_is_in_the_way_is_stopped(void **state)
{
    (void)state;
    assert_true(is_told_to_stop(put_in_the_way(10)));
}

static void who_is_done_before_he_could_be_back_is_not_stopped(void **state)
{
    (void)state;
    const char *id = put_in_the_way(85); /* 15 s are left; a restart took a minute */
    assert_string_equal(event_of(id, STATE_SUBMITTED, "resize"), "");
}

/* It was seen to be no faster with four processors than with one; but nobody wants them. */
static void nobody_is_made_smaller_for_room_that_stays_idle(void **state)
{
    (void)state;
    const char *id = put_submitted(.name = "running", .size = 4000, .deadline = 3600, .units = 100,
                                   .done = 20, .rate = 0.2, .used = 1.0 / 8);
    fake.resizable = true;
    fake_has(4000, 0);
    start_planning("dwell: 0, reserve: 0");
    run_round();
    run_round();
    assert_true(planned(id).next < 4000);
    assert_false(is_asked_for(id));
    put_rendered(.name = "another");
    for (int i = 0; i < 3; i++)
        run_round();
    assert_true(is_asked_for(id) && target.to < 4000);
}

static void room_to_spare_is_given_when_it_lasts(void **state)
{
    (void)state;
    const char *id = put_slow(3600);
    start_planning("dwell: 0");
    assert_false(is_asked_for(id)); /* wanted for the first time */
    run_round();
    assert_true(is_asked_for(id));
    assert_true(strstr(target.reason, "spare capacity is free") != NULL);
}

/* A job of one processor that is done in 80 s, long before it has to be. */
static const char *put_fast(void)
{
    fake.resizable = true;
    fake_has(4000, 3000);
    return put_submitted(.name = "small", .size = 1000, .deadline = 3600, .units = 100, .done = 20,
                         .rate = 1);
}

static void a_small_job_that_is_on_track_is_not_grown(void **state)
{
    (void)state;
    const char *id = put_fast();
    start_planning("dwell: 0");
    for (int i = 0; i < 3; i++)
        run_round();
    expect_status(id, "on track", NULL);
    assert_string_equal(event_of(id, STATE_SUBMITTED, "resize"), "");
}

/* What is not done does not cost others their room. */
static void no_room_is_kept_for_a_growth_that_does_not_pay(void **state)
{
    (void)state;
    put_rendered(.name = "one");
    put_rendered(.name = "two");
    put_rendered(.name = "three");
    const char *id = put_fast();
    start_planning("dwell: 0, reserve: 0");
    assert_string_equal(fake.submitted, "one two three ");
    assert_int_equal(planned(id).next, 1000);
}

static void a_request_is_written_once(void **state)
{
    (void)state;
    const char *id = put_slow(300);
    start_planning("dwell: 0");
    assert_true(is_asked_for(id));
    int64_t first = target.when;
    run_round();
    assert_true(is_asked_for(id) && target.when == first);
}

static void another_daemon_s_spool_is_not_touched(void **state)
{
    (void)state;
    const char *id = put_slow(300);
    assert_int_equal(
        spool_file_create(spool.root, ".lease", TEXT("2 elsewhere 1 locked 0\n"), 0644, &error), 0);
    start_stage("");
    stage->epoch = 1;
    advance(5000);
    submit_stage.round(stage);
    assert_true(stage->failed);
    assert_false(is_asked_for(id));
    assert_false(plan_is_there());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_are_rendered_anew_by_and_by),
        TEST(who_needs_it_starts_larger),
        TEST(nobody_starts_larger_for_nothing),
        TEST(nobody_starts_larger_upon_a_guess),
        TEST(who_has_time_starts_smaller),
        TEST(who_falls_behind_is_grown),
        TEST(who_would_miss_it_all_the_same_is_in_no_hurry),
        TEST(nobody_grows_before_there_is_room),
        TEST(nothing_is_changed_before_the_dwell_time_is_over),
        TEST(what_cannot_be_changed_is_left_alone),
        TEST(what_has_not_started_yet_is_left_alone),
        TEST(who_is_in_the_way_is_stopped),
        TEST(who_is_done_before_he_could_be_back_is_not_stopped),
        TEST(nobody_is_made_smaller_for_room_that_stays_idle),
        TEST(room_to_spare_is_given_when_it_lasts),
        TEST(a_small_job_that_is_on_track_is_not_grown),
        TEST(no_room_is_kept_for_a_growth_that_does_not_pay),
        TEST(a_request_is_written_once),
        TEST(another_daemon_s_spool_is_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
