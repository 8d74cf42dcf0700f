/* tests/unit/slurm_bells_test.c - jobs that tell while the list rests that there is news; against a stand-in */
#include <sys/stat.h>

#include "tests/unit/slurm_fake.h"

static const char lists[] = "GET /slurm/v0.0.38/jobs";
static const char singles[] = "GET /slurm/v0.0.38/job/";

static void ring(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/jobs/.news/%s", fake.directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static bool is_there(const char *name)
{
    char path[512];
    struct stat status;
    snprintf(path, sizeof(path), "%s/jobs/.news/%s", fake.directory, name);
    return lstat(path, &status) == 0;
}

/* As a script that ends does. */
static void end_at_slurm(const char *name, const char *id, int number)
{
    char started[32];
    snprintf(started, sizeof(started), "%d n1\n", number);
    fake_write(id, "started", started);
    fake_write(id, "main-0.ended", "0\n");
    fake_write(id, "ended", "0\n");
    fake_set_state((size_t)number, "COMPLETED");
    ring(name);
}

static void job_that_rings_is_asked_about(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    end_at_slurm("j-1-a1", "j-1", 1);
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
    assert_int_equal(fake_requests(lists), 0);
    assert_false(is_there("j-1-a1"));
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED); /* the answer is remembered */
}

static void job_that_the_list_does_not_have_yet_is_found_by_its_files(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    fake_submit("j-2", fake_manifest);
    fake_requests("");
    assert_int_equal(fake_poll("j-2").phase, PHASE_UNKNOWN); /* and not missing */
    fake_ahead += 500;
    assert_int_equal(fake_poll("j-2").phase, PHASE_UNKNOWN);
    end_at_slurm("j-2-a1", "j-2", 2);
    assert_int_equal(fake_poll("j-2").phase, PHASE_SUCCEEDED);
    assert_int_equal(fake_requests(lists), 0);
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
}

static void job_that_runs_is_told_before_the_list(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    fake_submit("j-2", fake_manifest);
    fake_set_state(2, "RUNNING");
    fake_write("j-2", "started", "2 n1\n");
    fake_requests("");
    assert_int_equal(fake_poll("j-2").phase, PHASE_UNKNOWN);
    ring("j-2-a1");
    assert_int_equal(fake_poll("j-2").phase, PHASE_RUNNING);
    assert_int_equal(fake_requests(lists), 0);
}

static void list_waits_for_what_rings(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    fake_ahead += 2500; /* it is due */
    end_at_slurm("j-1-a1", "j-1", 1);
    assert_int_equal(fake_poll("j-1").phase, PHASE_SUCCEEDED);
    assert_int_equal(fake_requests(lists), 0);
    fake_submit("j-2", fake_manifest);
    assert_int_equal(fake_poll("j-2").phase, PHASE_WAITING);
    assert_int_equal(fake_requests(lists), 1);
}

static void script_is_not_believed(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    fake_submit("j-2", fake_manifest);
    end_at_slurm("j-1-a1", "j-1", 1);
    fake_set_state(1, "RUNNING"); /* and Slurm says otherwise */
    fake_write("j-1", "started", "2 n1\n");
    fake_requests("");
    for (int i = 0; i < 5; i++)
        assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
    assert_int_equal(fake_requests(singles), 3);
    ring("j-2-a1");
    fake_write("j-2", "started", "1 n1\n"); /* another's number */
    assert_int_equal(fake_poll("j-2").phase, PHASE_UNKNOWN);
}

static void others_bells_are_left(void **state)
{
    (void)state;
    fake_run_on_a_slow_cluster();
    char path[512];
    struct stat status;
    snprintf(path, sizeof(path), "%s/jobs/.news", fake.directory);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 01733);
    snprintf(path, sizeof(path), "%s/jobs/other-1-a1", fake.directory);
    assert_int_equal(mkdir(path, 0711), 0);
    snprintf(path, sizeof(path), "%s/jobs/.news/directory", fake.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    ring("other-1-a1"); /* of another spool */
    ring("nothing");
    fake_poll("j-1");
    assert_true(is_there("other-1-a1") && is_there("nothing") && is_there("directory"));
    end_at_slurm("j-1-a1", "j-1", 1);
    struct error error;
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    assert_true(is_there("other-1-a1"));
    assert_false(is_there("nothing") || is_there("directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(job_that_rings_is_asked_about),
        FAKE_TEST(job_that_the_list_does_not_have_yet_is_found_by_its_files),
        FAKE_TEST(job_that_runs_is_told_before_the_list),
        FAKE_TEST(list_waits_for_what_rings),
        FAKE_TEST(script_is_not_believed),
        FAKE_TEST(others_bells_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
