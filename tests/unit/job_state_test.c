/* where a job is, in one word: by its directory, its log and the requests beside it */
#include "spool/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "spool/job_state.h"

struct fixture {
    char *path;
    int job;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->path = unit_directory();
    fixture->job = open(fixture->path, O_RDONLY | O_DIRECTORY);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    close(fixture->job);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static void put(const struct fixture *fixture, const char *name, const char *bytes)
{
    assert_int_equal(spool_file_replace(fixture->job, name, text_of(bytes), 0644, NULL), 0);
}

static const char *word(const struct fixture *fixture, enum state directory)
{
    struct job_situation situation;
    struct job_place place = {.state = directory, .id = "x-0123456789abc"};
    job_state_read_situation(fixture->job, &place, &situation);
    assert_int_equal(situation.state, job_state_read(fixture->job, &place));
    return job_state_name(situation.state);
}

static void a_directory_tells_a_word(void **state)
{
    assert_string_equal(word(*state, STATE_RENDERED), "waiting");
    assert_string_equal(word(*state, STATE_SUBMITTED), "queued");
    assert_string_equal(word(*state, STATE_HELD), "held");
    assert_string_equal(word(*state, STATE_FAILED), "failed");
    assert_string_equal(word(*state, STATE_DONE), "done");
}

#define BEFORE                                                                                     \
    "2026-11-22T10:00:00.000Z intent attempt=1\n"                                                  \
    "2026-11-22T10:00:01.000Z submitted attempt=1\n"                                               \
    "2026-11-22T10:00:02.000Z started attempt=1 at=2026-11-22T10:00:01.500Z\n"

static void a_log_tells_whether_it_runs(void **state)
{
    struct job_situation situation;
    struct job_place place = {.state = STATE_SUBMITTED, .id = "x-0123456789abc"};
    put(*state, "log", BEFORE);
    assert_string_equal(word(*state, STATE_SUBMITTED), "running");
    job_state_read_situation(((struct fixture *)*state)->job, &place, &situation);
    assert_int_equal(situation.started - situation.queued, 500);
    put(*state, "log", BEFORE "2026-11-22T10:01:00.000Z stopping attempt=1\n");
    assert_string_equal(word(*state, STATE_SUBMITTED), "stopping");
    /* The next attempt has not begun to run, and is not being stopped. */
    put(*state, "log",
        BEFORE "2026-11-22T10:01:00.000Z stopping attempt=1\n"
               "2026-11-22T10:02:00.000Z intent attempt=2\n"
               "2026-11-22T10:02:01.000Z submitted attempt=2\n");
    assert_string_equal(word(*state, STATE_SUBMITTED), "queued");
}

static void a_log_tells_why_the_scheduler_lets_it_wait(void **state)
{
    struct job_situation situation;
    struct job_place place = {.state = STATE_SUBMITTED, .id = "x-0123456789abc"};
    int job = ((struct fixture *)*state)->job;
    put(*state, "log",
        "2026-11-22T10:00:01.000Z submitted attempt=1\n"
        "2026-11-22T10:00:02.000Z waiting why=\"behind others\"\n"
        "2026-11-22T10:00:03.000Z waiting why=\"for resources\"\n");
    job_state_read_situation(job, &place, &situation);
    assert_string_equal(situation.waits, "for resources");
    put(*state, "log",
        "2026-11-22T10:00:02.000Z waiting why=\"for resources\"\n"
        "2026-11-22T10:00:03.000Z started attempt=1\n");
    job_state_read_situation(job, &place, &situation);
    assert_string_equal(situation.waits, "");
}

static void a_request_to_kill_is_stopping(void **state)
{
    put(*state, "log", BEFORE);
    put(*state, "kill", "2026-11-22T10:01:00.000Z kill by=ann uid=1000\n");
    assert_string_equal(word(*state, STATE_SUBMITTED), "stopping");
    assert_string_equal(word(*state, STATE_RENDERED), "stopping");
    /* Beside what has ended it is only a note. */
    assert_string_equal(word(*state, STATE_FAILED), "failed");
}

static void waiting_for_room_is_not_failing(void **state)
{
    put(*state, "job.yaml", "format: 1\nfailure:\n  retry: \"room\"\n  reason: \"NoRoom\"\n");
    assert_string_equal(word(*state, STATE_FAILED), "waiting");
    put(*state, "job.yaml", "format: 1\nfailure:\n  retry: \"executor\"\n");
    assert_string_equal(word(*state, STATE_FAILED), "waiting");
    put(*state, "job.yaml", "format: 1\nname: \"retry: room\"\nfailure:\n  retry: \"at\"\n");
    assert_string_equal(word(*state, STATE_FAILED), "failed");
}

static void both_vocabularies_select(void **state)
{
    (void)state;
    struct job_state_filter filter;
    assert_true(job_state_select("running", &filter));
    assert_true(job_state_may_be_in(&filter, STATE_SUBMITTED));
    assert_false(job_state_may_be_in(&filter, STATE_DONE));
    assert_true(job_state_is_selected(&filter, STATE_SUBMITTED, JOB_RUNNING));
    assert_false(job_state_is_selected(&filter, STATE_SUBMITTED, JOB_QUEUED));
    assert_true(job_state_select("submitted", &filter));
    assert_true(job_state_is_selected(&filter, STATE_SUBMITTED, JOB_QUEUED));
    assert_false(job_state_is_selected(&filter, STATE_FAILED, JOB_WAITING));
    /* What waits in failed/ is not failed, and is waiting. */
    assert_true(job_state_select("waiting", &filter));
    assert_true(job_state_is_selected(&filter, STATE_FAILED, JOB_WAITING));
    assert_false(job_state_select("dnoe", &filter));
    for (int i = 0; job_state_words[i]; i++)
        assert_true(job_state_select(job_state_words[i], &filter));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_directory_tells_a_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_tells_whether_it_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_tells_why_the_scheduler_lets_it_wait, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_request_to_kill_is_stopping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waiting_for_room_is_not_failing, set_up, tear_down),
        cmocka_unit_test(both_vocabularies_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
