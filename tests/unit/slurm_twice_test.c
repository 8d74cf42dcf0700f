/* tests/unit/slurm_twice_test.c - two jobs of Slurm's under one token, both of which may run */
#include "tests/unit/slurm_fake.h"

static const char released_comment[] = "dlspool:test:j-1:1:released";

static void assert_state(size_t number, const char *word)
{
    assert_string_equal(value_get_text(fake_job(number), "job_state").data, word);
}

static void assert_comment(size_t number, const char *comment)
{
    assert_string_equal(value_get_text(fake_job(number), "comment").data, comment);
}

static void add_second(const char *word)
{
    fake_order("{\"add\": {\"name\": \"j-1-a1\", \"comment\": \"%s\", \"priority\": 100, "
               "\"job_state\": \"%s\", \"state_reason\": \"Priority\", \"user_name\": \"%s\"}}",
               released_comment, word, fake_self());
}

/* `begun` of the numbers 1 and 2 runs the program; what becomes of the other, which is `word`. */
static void run_beside(int begun, const char *word, const char *end)
{
    int other = 3 - begun;
    char started[32];
    fake_submit("j-1", fake_manifest);
    add_second("PENDING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    fake_set_state((size_t)begun, "RUNNING");
    fake_set_state((size_t)other, word);
    snprintf(started, sizeof(started), "%d n1\n", begun);
    fake_write("j-1", "started", started);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    assert_state((size_t)begun - 1, "RUNNING");
    assert_state((size_t)other - 1, end);
    /* Only the end of the one that runs it is the job's. */
    fake_write("j-1", "worker-0.ended", "0\n");
    fake_write("j-1", "worker-1.ended", "0\n");
    fake_write("j-1", "ended", "0\n");
    fake_set_state((size_t)begun, "COMPLETED");
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
}

static void the_other_of_two_is_ended(void **state)
{
    static const char *const words[] = {"PENDING", "RUNNING"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        fake_stop();
        fake_start("38", "");
        run_beside(i & 1 ? 2 : 1, words[i / 2], "CANCELLED");
    }
}

static void the_end_of_the_other_is_not_the_jobs(void **state)
{
    (void)state;
    for (int begun = 1; begun <= 2; begun++) {
        fake_stop();
        fake_start("38", "");
        run_beside(begun, "FAILED", "FAILED");
    }
}

/* Its files have not come yet: what may still run goes before what is over. */
static void what_runs_counts_before_what_is_over(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    add_second("RUNNING");
    fake_set_state(1, "FAILED");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    fake_set_state(2, "FAILED");
    assert_int_equal(fake_poll("j-1").phase, PHASE_FAILED);
}

/* Between the list and the request it has begun: then it is the one that runs the program. */
static void one_that_begins_meanwhile_is_not_ended(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    add_second("PENDING");
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_state(1, "PENDING");
    assert_comment(1, "dlspool:test:j-1:1"); /* it is held, and would be cancelled now */
    fake_set_state(2, "RUNNING");
    fake_write("j-1", "started", "2 n1\n");
    for (int i = 0; i < 3; i++)
        assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    assert_state(0, "CANCELLED");
    assert_state(1, "RUNNING");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(the_other_of_two_is_ended),
        FAKE_TEST(the_end_of_the_other_is_not_the_jobs),
        FAKE_TEST(what_runs_counts_before_what_is_over),
        FAKE_TEST(one_that_begins_meanwhile_is_not_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
