/* tests/unit/slurm_list_test.c - what Slurm still has of jobs of this spool, against a stand-in */
#include "tests/unit/slurm_fake.h"

static struct listed {
    char text[1024]; /* "j-1:1 j-2:1 ", as they came */
} listed;

static void note(void *context, const char *id, int attempt)
{
    (void)context;
    size_t length = strlen(listed.text);
    snprintf(listed.text + length, sizeof(listed.text) - length, "%s:%d ", id, attempt);
}

static const char *list(void)
{
    struct error error;
    listed.text[0] = '\0';
    if (fake.executor->operations->list(fake.executor, note, NULL, &error))
        fail_msg("%s", error.text);
    return listed.text;
}

static void be(const char *identity)
{
    snprintf(fake.executor->identity, sizeof(fake.executor->identity), "%s", identity);
}

static int set_up(void **state)
{
    fake_set_up(state);
    be("00000000000000aa");
    return 0;
}

static void cancel(const char *id)
{
    struct error error;
    assert_int_equal(executor_cancel(fake.executor, id, 1, false, &error), 0);
}

static void jobs_are_told_by_their_comment(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    assert_string_equal(value_get_text(fake_job(0), "comment").data,
                        "dlspool:test:j-1:1:00000000000000aa:released");
    be("00000000000000bb"); /* another host, the same path, the same cluster */
    fake_submit("j-2", fake_manifest);
    be(""); /* an older version */
    fake_submit("j-3", fake_manifest);
    assert_string_equal(list(), "");
    be("00000000000000aa");
    assert_string_equal(list(), "j-1:1 j-1:1 "); /* it is at Slurm, and has a directory */
    be("00000000000000bb");
    assert_string_equal(list(), "j-2:1 j-2:1 ");
    be("00000000000000cc");
    assert_string_equal(list(), "");
    for (int i = 1; i <= 3; i++)
        fake_order("{\"set\": {\"job_id\": %d, \"job_state\": \"RUNNING\"}}", i);
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING); /* whoever has asked */
}

static int64_t elapsed;

static int64_t say_elapsed(void)
{
    return elapsed;
}

/* However many jobs there are. */
static void two_requests_are_enough(void **state)
{
    char id[32];
    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof(id), "j-%d", i);
        fake_submit(id, fake_manifest);
    }
    fake_order("{}");
    list();
    const struct value *requests = value_get(fake_order("{}"), "requests");
    assert_int_equal(requests->list.count, 2);
    assert_true(text_contains(value_get_text(requests->list.items[0], "what"), TEXT("/diag")));
    assert_true(text_contains(value_get_text(requests->list.items[1], "what"), TEXT("/jobs")));
}

static void the_list_of_the_last_poll_serves_for_ten_seconds(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    elapsed = clock_elapsed();
    clock_replace(NULL, say_elapsed);
    fake_poll("j-1");
    fake_order("{}");
    for (int i = 0; i < 2; i++) {
        elapsed += 10000 * (1 - i) + i;
        assert_string_equal(list(), "j-1:1 j-1:1 ");
        const struct value *requests = value_get(fake_order("{}"), "requests");
        assert_int_equal(requests->list.count, i == 0 ? 0 : 2);
    }
    clock_replace(NULL, NULL);
}

/* Its files stay for ever otherwise. */
static void what_slurm_has_forgotten_is_told_by_its_directory(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    be("00000000000000bb");
    fake_submit("j-2", fake_manifest);
    be("00000000000000aa");
    mkdir(fake_path("jobs/notes"), 0700);
    mkdir(fake_path("jobs/j-9-a1"), 0700); /* nothing was handed in */
    for (int i = 1; i <= 2; i++)
        fake_order("{\"set\": {\"job_id\": %d, \"job_state\": \"COMPLETED\"}}", i);
    assert_string_equal(list(), "j-1:1 ");
    fake_order("{\"forget\": 1}");
    fake_order("{\"forget\": 2}");
    assert_int_equal(fake_job_count(), 0);
    assert_string_equal(list(), "j-1:1 ");
    struct job_poll poll = fake_poll_ending("j-1", true);
    assert_int_equal(poll.phase, PHASE_VANISHED);
    struct error error;
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    assert_string_equal(list(), "");
    assert_int_equal(access(fake_path("jobs/j-1-a1"), F_OK), -1);
    assert_int_equal(access(fake_path("jobs/j-2-a1/submission"), F_OK), 0);
}

static void what_has_no_directory_any_more_is_listed_and_can_be_ended(void **state)
{
    char command[1024];
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_set_state(1, "RUNNING");
    snprintf(command, sizeof(command), "rm -r '%s'", fake_path("jobs/j-1-a1"));
    assert_int_equal(system(command), 0);
    fake_open(""); /* a daemon that begins */
    be("00000000000000aa");
    assert_string_equal(list(), "j-1:1 ");
    cancel("j-1");
    assert_string_equal(value_get_text(fake_job(0), "job_state").data, "CANCELLED");
    struct job_poll poll = fake_poll_ending("j-1", true);
    assert_true(poll.phase == PHASE_FAILED || poll.phase == PHASE_VANISHED);
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    assert_string_equal(list(), "");
}

static void a_list_that_cannot_be_had_is_an_error(void **state)
{
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"answer\": {\"status\": 500, \"body\": \"{}\"}, \"match\": \"GET .*jobs\", "
               "\"times\": 9}");
    listed.text[0] = '\0';
    assert_int_equal(fake.executor->operations->list(fake.executor, note, NULL, &error), -1);
    assert_string_equal(listed.text, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(jobs_are_told_by_their_comment),
        TEST(two_requests_are_enough),
        TEST(the_list_of_the_last_poll_serves_for_ten_seconds),
        TEST(what_slurm_has_forgotten_is_told_by_its_directory),
        TEST(what_has_no_directory_any_more_is_listed_and_can_be_ended),
        TEST(a_list_that_cannot_be_had_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
