/* tests/unit/slurm_rests_test.c - lists that take long are requested seldom; against a stand-in */
#include "tests/unit/slurm_fake.h"

static const char lists[] = "GET /slurm/v0.0.38/jobs";
static void list_rests_after_it_took_long(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING); /* as remembered */
    assert_int_equal(fake_requests(lists), 0);
    fake_ahead += 10500;
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    assert_int_equal(fake_requests(lists), 1);
}

static void one_slow_list_is_none(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"delay\": 0.21, \"match\": \"GET .*/jobs\", \"times\": 1}");
    fake_poll("j-1");
    fake_requests("");
    fake_poll("j-1");
    assert_int_equal(fake_requests(lists), 1);
}

static void long_list_is_slow_at_once(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    char *comment = test_malloc(1100000);
    memset(comment, 'x', 1099999);
    comment[1099999] = '\0';
    fake_order("{\"add\": {\"name\": \"other\", \"comment\": \"%s\"}}", comment);
    test_free(comment);
    fake_order("{\"delay\": 0.21, \"match\": \"GET .*/jobs\", \"times\": 1}");
    fake_poll("j-1");
    fake_requests("");
    fake_poll("j-1");
    assert_int_equal(fake_requests(lists), 0);
}

static void list_of_seconds_rests_for_longer_than_ten(void **state)
{
    (void)state;
    fake_run_where_lists_take(1.2);
    fake_ahead += 10300;
    fake_poll("j-1");
    assert_int_equal(fake_requests(lists), 0);
    fake_ahead += 3000;
    fake_poll("j-1");
    assert_int_equal(fake_requests(lists), 1);
}

static void list_does_not_rest_while_a_job_is_stopped(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    fake_set_state(1, "CANCELLED");
    assert_int_equal(fake_poll_ending("j-1", true).phase, PHASE_FAILED);
    assert_int_equal(fake_requests(lists), 1);
}

static void job_that_the_list_does_not_have_yet_is_not_missing(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    fake_submit("j-2", fake_manifest);
    fake_requests("");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fake_poll("j-2").phase, PHASE_UNKNOWN);
        fake_ahead += 500;
    }
    assert_int_equal(fake_requests(lists), 0);
    fake_ahead += 10000;
    assert_int_equal(fake_poll("j-2").phase, PHASE_WAITING);
    assert_int_equal(fake_job_count(), 2); /* it was not submitted again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(list_rests_after_it_took_long),
        FAKE_TEST(one_slow_list_is_none),
        FAKE_TEST(long_list_is_slow_at_once),
        FAKE_TEST(list_of_seconds_rests_for_longer_than_ten),
        FAKE_TEST(list_does_not_rest_while_a_job_is_stopped),
        FAKE_TEST(job_that_the_list_does_not_have_yet_is_not_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
