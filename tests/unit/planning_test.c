/* tests/unit/planning_test.c - what a plan says of the jobs, what it promises, what is kept of it */
#include "tests/unit/planning_fixture.h"

#include <errno.h>
#include <sys/stat.h>

static void what_others_hold_is_not_the_jobs_fault(void **state)
{
    (void)state;
    remember(100);
    const char *id = put_rendered(.name = "wide", .deadline = 3600, .cpus = 2000);
    fake_has(2000, 1800); /* somebody else has the rest */
    start_planning("");
    expect_status(id, "at risk", "waiting for resources");
}

static void while_the_executor_sleeps_all_are_told_how_they_stand(void **state)
{
    (void)state;
    put_submitted(.name = "dated", .deadline = 36000);
    remember(100);
    fake_has(4000, 3000);
    start_planning(""); /* its capacity is known */
    const char *id = put_rendered(.name = "hurried", .size = 1000, .deadline = 90);
    fake.ready = false;
    run_round();
    assert_string_equal(fake.submitted, "");
    assert_int_equal(fake.rendered, 0);
    assert_true(planned(id).deadline_status.length > 0);
}

static void dependencies_say_why(void **state)
{
    (void)state;
    const int64_t longest = 90 * 86400; /* more than any guess */
    const char *unknown = put_rendered(.name = "unknown", .deadline = longest);
    fake_has(4000, 4000);
    start_planning("");
    expect_status(unknown, "at risk", "its run time is not known yet");
    assert_string_equal(fake.submitted, "unknown "); /* it is tried */
    close_stage();
    remember(100);
    const char *hopeless = put_rendered(.name = "hopeless", .deadline = 50);
    const char *late = put_rendered(.name = "late", .deadline = 1);
    start_planning("");
    expect_status(hopeless, "cannot meet", "it is attempted anyway");
    expect_status(late, "late", NULL);
    assert_true(strstr(fake.submitted, "hopeless "));
}

/* What it may take at worst is too long by a little: it is planned with all the time that there is, and
 * not stopped for one like it of which less is known. */
static void who_makes_it_by_the_median_is_planned(void **state)
{
    (void)state;
    remember(100);
    const char *runs = put_submitted(.name = "runs", .checkpoint = true, .units = 1000, .done = 100,
                                     .rate = 9, .spread = 0.8, .deadline = 118);
    const char *duplicate =
        put_rendered(.name = "duplicate", .checkpoint = true, .units = 1000, .deadline = 170);
    fake_has(1000, 0);
    start_planning("dwell: 0, reserve: 0");
    expect_status(runs, "on track", NULL);
    run_round(); /* who is to be stopped is told at the second plan */
    assert_false(is_told_to_stop(runs));
    assert_true(in_state(duplicate, STATE_RENDERED));
    struct planned_job planned_one = planned(runs);
    assert_true(planned_one.finish <= planned_one.late && planned_one.late <= planned_one.deadline);
}

static void a_firm_deadline_is_promised_once(void **state)
{
    (void)state;
    remember(100);
    const char *firm = put_rendered(.name = "firm", .deadline = 200, .deadline_mode = "firm");
    fake_has(1000, 1000);
    start_planning("reserve: 0");
    assert_string_equal(fake.submitted, "firm ");
    assert_true(strstr(event_of(firm, STATE_SUBMITTED, "promised"), "deadline=") != NULL);
    const char *second = put_rendered(.name = "second", .deadline = 190, .deadline_mode = "firm");
    fake_has(1000, 0);
    run_round();
    expect_status(second, "at risk", "its firm deadline cannot be guaranteed");
    assert_string_equal(event_of(second, STATE_RENDERED, "promised"), "");
}

static void budgets_put_inventors_last(void **state)
{
    (void)state;
    remember(1000);
    const char *greedy = put_rendered(.name = "greedy", .deadline = 1500);
    put_rendered(.name = "greedy", .deadline = 1500);
    put_rendered(.name = "greedy", .deadline = 1500);
    put_rendered(.name = "modest", .deadline = 2000, .owner = "bob", .uid = 1001);
    fake_has(1000, 1000);
    start_planning("reserve: 0, budget: 1"); /* 864 s of it: less than one takes */
    expect_status(greedy, "at risk", "planner.budget");
}

static struct system_calls real;
static int records_read;

static int count_records(int directory, const char *name, int flags, mode_t mode)
{
    records_read += strcmp(name, "job.yaml") == 0;
    return real.openat(directory, name, flags, mode);
}

static int read_in_a_round(void)
{
    real = sys;
    sys.openat = count_records;
    records_read = 0;
    run_round();
    sys = real;
    return records_read;
}

static void only_what_has_changed_is_read_again(void **state)
{
    (void)state;
    const char *changing = put_rendered(.name = "many", .deadline = 3600);
    for (int i = 1; i < 40; i++)
        put_rendered(.name = "many", .deadline = 3600);
    char id[ID_SIZE];
    snprintf(id, sizeof(id), "%s", changing);
    fake_has(1000, 0);
    start_planning("");
    run_round(); /* by now the directories are old enough to be believed */
    assert_int_equal(read_in_a_round(), 0);
    int job = open_job(id, STATE_RENDERED);
    struct job_record record = record_of(&(struct job_sketch){.deadline = 7200}, id);
    assert_int_equal(record_replace(job, &record, &error), 0);
    close(job);
    assert_int_equal(read_in_a_round(), 1);
    assert_true(planned(id).deadline == record.deadline);
}

static const char *not_read; /* the name of a file that cannot be opened for reading */

static int open_others(int directory, const char *name, int flags, mode_t mode)
{
    if (strcmp(name, not_read) != 0 || (flags & O_ACCMODE) != O_RDONLY)
        return real.openat(directory, name, flags, mode);
    errno = ENFILE;
    return -1;
}

/* A job that cannot be read for a moment is read with the next plan, though its directory has not changed. */
static void what_cannot_be_read_now_is_planned_later(void **state)
{
    static const char *const files[] = {"job.yaml", "log"};
    (void)state;
    fake_has(1000, 0);
    put_rendered(.name = "other", .deadline = 3600);
    start_planning("");
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        char id[ID_SIZE];
        snprintf(id, sizeof(id), "%s", put_rendered(.name = "many", .deadline = 3600));
        advance(10000); /* it is old enough to be believed */
        real = sys;
        sys.openat = open_others;
        not_read = files[i];
        run_round();
        sys = real;
        expect_status(id, "not planned", NULL);
        run_round();
        assert_true(planned(id).deadline > 0);
    }
}

static off_t size_of(const char *name)
{
    struct stat status;
    assert_int_equal(fstatat(spool.root, name, &status, 0), 0);
    return status.st_size;
}

static void a_recording_is_bounded(void **state)
{
    (void)state;
    mkdirat(spool.root, "history", 0755);
    int file = openat(spool.root, "history/plans", O_WRONLY | O_CREAT, 0644);
    assert_int_equal(ftruncate(file, (64 << 20) + 1), 0); /* full, though it is all hole */
    close(file);
    put_rendered(.name = "dated", .deadline = 600);
    fake_has(1000, 0);
    start_planning("record: true");
    assert_true(size_of("history/plans.1") > 64 << 20);
    off_t one = size_of("history/plans");
    assert_true(one > 200 && one < 4096);
    run_round();
    assert_true(size_of("history/plans") > one);
}

static void when_no_deadline_is_left_the_plan_goes(void **state)
{
    (void)state;
    remember(100);
    const char *id = put_rendered(.name = "dated", .deadline = 600);
    fake_has(1000, 1000);
    start_planning("");
    assert_true(plan_is_there());
    end_job(id, STATE_DONE);
    run_round();
    assert_false(plan_is_there());
    put_rendered(.name = "after");
    fake_has(1000, 0);
    run_round();
    assert_string_equal(fake.submitted, "dated after ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_others_hold_is_not_the_jobs_fault),
        TEST(while_the_executor_sleeps_all_are_told_how_they_stand),
        TEST(dependencies_say_why),
        TEST(who_makes_it_by_the_median_is_planned),
        TEST(a_firm_deadline_is_promised_once),
        TEST(budgets_put_inventors_last),
        TEST(only_what_has_changed_is_read_again),
        TEST(what_cannot_be_read_now_is_planned_later),
        TEST(a_recording_is_bounded),
        TEST(when_no_deadline_is_left_the_plan_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
