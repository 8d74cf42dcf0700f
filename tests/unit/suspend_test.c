/* tests/unit/suspend_test.c - jobs that are held with their memory stand still, and go on; their time limit does not run
 *
 * The executor does and says what the test wants.
 */
#include "tests/unit/stage_fixture.h"

#include "stages/shared/control.h"

#define ID "job-0000000000001"

static struct {
    struct executor_operations operations;
    bool untimed, fails, stands;
    int stops, goes_on, cancels, forced;
    int late[8]; /* tasks that were told to end */
    size_t late_count;
} fake;

static int fake_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                     size_t count, struct error *problem)
{
    (void)executor;
    (void)problem;
    for (size_t i = 0; i < count; i++) {
        struct task_state *tasks = arena_allocate(arena, 2 * sizeof(*tasks));
        for (int j = 0; j < 2; j++) {
            tasks[j] = (struct task_state){.role = "main", .index = j};
            tasks[j].started = 1767268800000 + j * 5000;
        }
        jobs[i]->phase = PHASE_RUNNING;
        jobs[i]->started = 1767268800000;
        jobs[i]->untimed = fake.untimed;
        jobs[i]->stands = fake.stands;
        jobs[i]->tasks = tasks;
        jobs[i]->task_count = 2;
    }
    return 0;
}

static void fake_suspend(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    assert_int_equal(count, 1);
    *(batch[0]->suspend ? &fake.stops : &fake.goes_on) += 1;
    batch[0]->result = fake.fails ? error_set(&batch[0]->error, "it does not answer") : 0;
}

static void fake_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    assert_int_equal(count, 1);
    fake.cancels++;
    fake.forced += batch[0]->force;
    fake.late_count = batch[0]->task_count;
    for (size_t i = 0; i < batch[0]->task_count; i++)
        fake.late[i] = batch[0]->tasks[i];
    batch[0]->result = 0;
}

static void fake_output(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

static void begin(int64_t time_limit, const char *array)
{
    const struct job_record record = {.id = TEXT(ID),
                                      .owner = TEXT("ann"),
                                      .uid = 1000,
                                      .gid = (gid_t)-1,
                                      .accepted = now,
                                      .request_file = TEXT("request.yaml"),
                                      .cpus = 1000,
                                      .attempt = 1,
                                      .time_limit = time_limit,
                                      .array = text_of(array),
                                      .failure.exit_code = -1};
    put_job(STATE_SUBMITTED, &record,
            "2026-01-01T12:00:00.000Z accepted file=x\n"
            "2026-01-01T12:00:00.000Z intent attempt=1\n"
            "2026-01-01T12:00:00.000Z submitted attempt=1\n"
            "2026-01-01T12:00:01.000Z started attempt=1\n",
            NULL);
    open_stage();
}

static void ask_for(enum control_verb verb)
{
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(control_file_write(job, verb, TEXT("ann"), 1000, now, &error), 0);
    close(job);
}

static int events(const char *name)
{
    return find_events(ID, STATE_SUBMITTED, name, NULL);
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    fake.operations = (struct executor_operations){.name = "fake",
                                                   .poll = fake_poll,
                                                   .suspend = fake_suspend,
                                                   .cancel = fake_cancel,
                                                   .output = fake_output,
                                                   .close = fake_close};
    open_spool(&track_stage, &fake.operations, 1767268801000); /* 2026-01-01T12:00:01 */
    fake_executor.suspends = true;
    fake.untimed = true;
    open_templates();
    write_settings("executor: local\nsync: none\nkill_grace: 5s\n");
    return 0;
}

static void a_held_job_stands_still_until_it_is_released(void **state)
{
    (void)state;
    begin(0, "");
    run_round_after(1000);
    assert_int_equal(fake.stops + fake.goes_on, 0);
    ask_for(CONTROL_SUSPEND);
    fake.fails = true;
    run_round_after(1000);
    assert_int_equal(events("suspended"), 0);
    fake.fails = false;
    run_round_after(1000);
    run_round_after(1000);
    assert_int_equal(fake.stops, 2);
    assert_int_equal(events("suspended"), 1);
    close_stage();
    open_stage();
    run_round_after(1000);
    assert_int_equal(fake.stops, 2); /* the log tells that it does */
    ask_for(CONTROL_RELEASE);
    run_round_after(1000);
    run_round_after(1000);
    assert_int_equal(fake.goes_on, 1);
    assert_int_equal(events("continued"), 1);
    ask_for(CONTROL_HOLD); /* an ordinary one, as of a job that is stopped at its checkpoint */
    run_round_after(1000);
    assert_int_equal(fake.stops, 2);
}

static void what_was_released_before_its_log_says_that_it_stands_goes_on(void **state)
{
    (void)state;
    begin(0, "");
    fake.stands =
        true; /* the daemon ended after that, and the hold was released before it came back */
    run_round_after(1000);
    assert_int_equal(fake.goes_on, 1);
    run_round_after(1000);
    assert_int_equal(fake.goes_on,
                     1); /* who makes it stand still by other means is left in peace */
    assert_int_equal(fake.stops, 0);
}

static void only_where_the_site_allows_it(void **state)
{
    (void)state;
    fake_executor.suspends = false;
    begin(0, "");
    ask_for(CONTROL_SUSPEND);
    run_round_after(1000);
    assert_int_equal(fake.stops, 0);
    fake_executor.suspends = true;
    run_round_after(1000);
    assert_int_equal(fake.stops, 1);
    fake_executor.suspends = false; /* what stands still goes on all the same */
    ask_for(CONTROL_RELEASE);
    run_round_after(1000);
    assert_int_equal(fake.goes_on, 1);
}

static void a_killed_job_goes_on_to_its_end(void **state)
{
    (void)state;
    begin(0, "");
    ask_for(CONTROL_SUSPEND);
    run_round_after(1000);
    ask_for(CONTROL_KILL);
    run_round_after(1000);
    assert_int_equal(fake.goes_on, 1);
    assert_int_equal(fake.cancels, 1);
    run_round_after(1000);
    assert_int_equal(fake.stops, 1);
}

static void a_time_limit_does_not_run_meanwhile(void **state)
{
    (void)state;
    begin(10000, "");
    run_round_after(4000); /* 12:00:05 */
    ask_for(CONTROL_SUSPEND);
    run_round_after(1000);
    run_round_after(60000);
    assert_int_equal(fake.cancels, 0);
    close_stage();
    open_stage();
    ask_for(CONTROL_RELEASE);
    run_round_after(1000);
    run_round_after(3900);
    assert_int_equal(fake.cancels, 0); /* it has run for 9.9 seconds */
    run_round_after(100);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.forced, 1);
}

static void a_clock_that_is_set_does_not_end_it(void **state)
{
    (void)state;
    begin(10000, "");
    run_round_after(4000); /* it has run for five seconds */
    now += 7200000;
    run_round_after(4900);
    now -= 86400000;
    run_round_after(0);
    assert_int_equal(fake.cancels, 0);
    run_round_after(100);
    assert_int_equal(fake.cancels, 1);
}

static void an_executor_that_keeps_limits_is_left_to_it(void **state)
{
    (void)state;
    fake.untimed = false;
    begin(10000, "");
    run_round_after(60000);
    assert_int_equal(fake.cancels, 0);
}

static void each_task_of_an_array_has_its_own_limit(void **state)
{
    (void)state;
    begin(10000, "0-1");
    run_round_after(9500); /* 12:00:10.5 */
    assert_int_equal(fake.late_count, 1);
    assert_int_equal(fake.late[0], 0);
    assert_int_equal(fake.forced, 1);
    run_round_after(5000);
    assert_int_equal(fake.late_count, 2);
    ask_for(CONTROL_SUSPEND);
    run_round_after(1000);
    assert_int_equal(fake.stops, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_held_job_stands_still_until_it_is_released, set_up,
                                        close_spool),
        cmocka_unit_test_setup_teardown(
            what_was_released_before_its_log_says_that_it_stands_goes_on, set_up, close_spool),
        cmocka_unit_test_setup_teardown(only_where_the_site_allows_it, set_up, close_spool),
        cmocka_unit_test_setup_teardown(a_killed_job_goes_on_to_its_end, set_up, close_spool),
        cmocka_unit_test_setup_teardown(a_time_limit_does_not_run_meanwhile, set_up, close_spool),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_does_not_end_it, set_up, close_spool),
        cmocka_unit_test_setup_teardown(an_executor_that_keeps_limits_is_left_to_it, set_up,
                                        close_spool),
        cmocka_unit_test_setup_teardown(each_task_of_an_array_has_its_own_limit, set_up,
                                        close_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
