/* tests/unit/slurm_released_test.c - which jobs are handed in so that they begin at once */
#include "tests/unit/slurm_fake.h"

static const char released_comment[] = "dlspool:test:j-1:1:released";

/* Was it handed in held? */
static bool was_held(size_t number)
{
    return value_get_boolean(value_get(fake_job(number), "description"), "hold", false);
}

static void assert_state(size_t number, const char *word)
{
    assert_string_equal(value_get_text(fake_job(number), "job_state").data, word);
}

static void assert_comment(size_t number, const char *comment)
{
    assert_string_equal(value_get_text(fake_job(number), "comment").data, comment);
}

/* Requests since the last time that begin so. */
static size_t count_requests(const char *what)
{
    const struct value *requests = value_get(fake_order("{}"), "requests");
    size_t count = 0;
    for (size_t i = 0; i < requests->list.count; i++)
        count += text_starts(value_get_text(requests->list.items[i], "what"), what);
    return count;
}

static void write_largest(const char *line)
{
    int file = open(fake_path("jobs/.largest"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, line, strlen(line)), strlen(line));
    close(file);
}

/* slurmctld has been there for a minute, and has given a number that was larger than all before. */
static void be_sure(void)
{
    fake_order("{\"started\": 60}");
    fake_submit("first", fake_manifest);
}

static void the_first_of_each_slurmctld_is_held(void **state)
{
    (void)state;
    be_sure();
    assert_true(was_held(0));
    count_requests("");
    fake_submit("j-1", fake_manifest);
    assert_int_equal(count_requests("POST"), 1);
    assert_false(was_held(1));
    assert_comment(1, released_comment);
    /* As it is written down, another process knows it, too. */
    fake_open("");
    fake_submit("j-2", fake_manifest);
    assert_false(was_held(2));
    /* It was started again, or has its counts set back. */
    fake_order("{\"started\": 30}");
    fake_submit("j-3", fake_manifest);
    assert_true(was_held(3));
    assert_int_equal(value_get_number(fake_job(3), "releases", 0), 1);
    fake_submit("j-4", fake_manifest);
    assert_false(was_held(4));
}

static void a_young_slurmctld_is_not_told_from_the_one_before(void **state)
{
    (void)state;
    fake_order("{\"started\": 0}");
    fake_submit("j-1", fake_manifest);
    fake_submit("j-2", fake_manifest);
    assert_true(was_held(0) && was_held(1));
    fake_order("{\"clock\": 5}");
    fake_submit("j-3", fake_manifest);
    fake_submit("j-4", fake_manifest);
    assert_true(was_held(2));
    assert_false(was_held(3));
}

static void every_version_tells_since_when(void **state)
{
    static const char *const versions[] = {"36", "39", "40", "43"};
    (void)state;
    fake_stop();
    for (size_t i = 0; i < ARRAY_COUNT(versions); i++) {
        fake_start(versions[i], i < 2 ? "" : "--release 25.05.1");
        be_sure();
        fake_submit("j-1", fake_manifest);
        assert_true(was_held(0));
        assert_false(was_held(1));
        assert_comment(1, released_comment);
        fake_stop();
    }
    fake_start("38", "");
}

static void a_file_of_an_older_dlspool_leaves_numbers_in_doubt(void **state)
{
    (void)state;
    be_sure();
    /* It writes over the front of what is there. */
    int file = open(fake_path("jobs/.largest"), O_WRONLY);
    assert_int_equal(write(file, "1      \n", 8), 8);
    close(file);
    fake_open("");
    fake_submit("j-1", fake_manifest);
    assert_true(was_held(1));
    fake_submit("j-2", fake_manifest);
    assert_false(was_held(2));
}

/* Hand in many at once. */
static void submit_many(struct submission *submissions, struct submission **batch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char id[32];
        snprintf(id, sizeof(id), "j-%zu", i);
        submissions[i] = fake_submission(arena_string(fake.arena, id), fake_manifest);
        batch[i] = &submissions[i];
    }
    fake.executor->operations->submit(fake.executor, batch, count);
}

static void behind_a_lost_answer_jobs_are_held(void **state)
{
    enum { PART = 64, COUNT = 2 * PART };
    static struct submission submissions[COUNT];
    static struct submission *batch[COUNT];
    size_t held = 0;
    (void)state;
    be_sure();
    fake_order("{\"answer\": {\"status\": 500, \"body\": \"\"}, \"match\": \"POST .*submit\"}");
    submit_many(submissions, batch, COUNT);
    fake_order("{\"calm\": true}");
    size_t count = fake_job_count();
    assert_int_equal(count, COUNT); /* the first one, and all but one of these */
    for (size_t i = 1; i < count; i++)
        held += was_held(i);
    assert_int_equal(held, PART);
    for (size_t i = 0, unknown = 0; i < COUNT; i++) {
        unknown += submissions[i].outcome == SUBMIT_UNKNOWN;
        assert_true(submissions[i].outcome == SUBMIT_ACCEPTED || unknown == 1);
    }
}

static void one_whose_answer_was_lost_is_taken_from_the_list(void **state)
{
    (void)state;
    be_sure();
    fake_order("{\"begins\": true}");
    fake_order("{\"lose\": \"POST .*submit\", \"times\": 1}");
    struct submission submission = fake_submission("j-1", fake_manifest);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    assert_comment(1, released_comment);
    /* One that is submitted again is held. */
    fake_order("{\"forget\": \"all\"}");
    fake_order("{\"clock\": 5}");
    submission.repeated = true;
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    for (size_t i = fake_job_count(); i-- > 0;)
        assert_true(was_held(i));
}

static void one_that_has_to_wait_is_accepted(void **state)
{
    (void)state;
    be_sure();
    fake_order("{\"refuse\": 2015, \"with_id\": true}");
    fake_submit("j-1", fake_manifest);
    assert_state(1, "PENDING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    struct submission submission = fake_submission("j-2", fake_manifest);
    fake_order("{\"refuse\": 2014, \"with_id\": true}");
    assert_int_equal(fake_submit_it(&submission), SUBMIT_NEVER_FITS);
    assert_state(2, "CANCELLED");
}

/* slurmctld came back with an older state between the look at it and the request. */
static void have_numbers_reused(void)
{
    char line[64];
    be_sure();
    int file = open(fake_path("jobs/.largest"), O_RDONLY);
    ssize_t length = read(file, line, sizeof(line) - 1);
    close(file);
    assert_true(length > 3 && line[0] == '1');
    line[length] = '\0';
    line[0] = '3';
    write_largest(line);
    fake_open("");
}

static void a_reused_number_is_given_back_while_it_waits(void **state)
{
    (void)state;
    have_numbers_reused();
    fake_submit("j-1", fake_manifest);
    /* Of the numbers 2 and 3 the first was to begin at once. */
    assert_int_equal(fake_job_count(), 4);
    assert_false(was_held(1));
    assert_state(1, "CANCELLED");
    assert_comment(1, "dlspool:test:j-1:1");
    assert_true(was_held(2) && was_held(3));
    assert_state(2, "CANCELLED");
    assert_state(3, "PENDING");
    assert_comment(3, released_comment);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
}

static void a_reused_number_is_left_to_what_has_begun(void **state)
{
    (void)state;
    have_numbers_reused();
    fake_order("{\"begins\": true}");
    fake_submit("j-1", fake_manifest);
    assert_int_equal(fake_job_count(), 2);
    assert_state(1, "RUNNING");
    assert_comment(1, released_comment);
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(the_first_of_each_slurmctld_is_held),
        FAKE_TEST(a_young_slurmctld_is_not_told_from_the_one_before),
        FAKE_TEST(every_version_tells_since_when),
        FAKE_TEST(a_file_of_an_older_dlspool_leaves_numbers_in_doubt),
        FAKE_TEST(behind_a_lost_answer_jobs_are_held),
        FAKE_TEST(one_whose_answer_was_lost_is_taken_from_the_list),
        FAKE_TEST(one_that_has_to_wait_is_accepted),
        FAKE_TEST(a_reused_number_is_given_back_while_it_waits),
        FAKE_TEST(a_reused_number_is_left_to_what_has_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
