/* tests/unit/diagnosis_test.c - whoever reads why is told what to type, with the id or the file's name */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "spool/file.h"

#include "stages/shared/diagnosis.h"

static struct error problem;

static void a_file_is_named_as_its_owner_knows_it(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"digits.yaml",
         "not retried. Correct digits.yaml and submit it again: dlspool submit digits.yaml"},
        {"digits-1m7y5dm13etbd.yaml",
         "not retried. Correct digits.yaml and submit it again: dlspool submit digits.yaml"},
        {"my job.yaml", "not retried. Correct the file and submit it again: dlspool submit FILE"},
        {"$(id).yaml", "not retried. Correct the file and submit it again: dlspool submit FILE"},
        {"-s.yaml", "not retried. Correct the file and submit it again: dlspool submit FILE"},
        {"", "not retried. Correct the file and submit it again: dlspool submit FILE"},
        {NULL, "not retried. Correct the file and submit it again: dlspool submit FILE"},
    };
    struct diagnosis diagnosis;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        diagnosis_bad_request(&diagnosis, cases[i][0], &problem);
        assert_string_equal(diagnosis.next, cases[i][1]);
    }
    diagnosis_stops(&diagnosis, "a-1m7y5dm13etbd.sh", "intake", 3);
    assert_non_null(strstr(diagnosis.next, "submit it again: dlspool submit a.sh"));
}

static void what_to_type_has_the_id(void **state)
{
    (void)state;
    static const char id[] = "a-1m7y5dm13etbd";
    struct diagnosis diagnosis;
    struct settings settings = {.retry_first = 30000, .retry_longest = 1800000};
    const struct circumstances circumstances = {
        .settings = &settings, .id = id, .now = 1767225600000};
    const struct job_record record = {.id = TEXT("a-1m7y5dm13etbd")};
    diagnosis_vanished(&diagnosis, &circumstances, &record);
    assert_non_null(strstr(diagnosis.next, "it is retried by itself at 2026-01-01T00:00:"));
    assert_true(
        text_ends(text_of(diagnosis.next), "To retry it now: dlspool retry a-1m7y5dm13etbd"));
    diagnosis_damaged(&diagnosis, id, &problem);
    assert_true(
        text_ends(text_of(diagnosis.next), "dlspool submit failed/a-1m7y5dm13etbd/request.*"));
    diagnosis_killed(&diagnosis, id, "ann", 0);
    assert_true(text_ends(text_of(diagnosis.next), "dlspool retry a-1m7y5dm13etbd"));
    diagnosis_refused_request(&diagnosis, &problem);
    assert_non_null(strstr(diagnosis.next, "dlspool list --all"));
    diagnosis_refused_file(&diagnosis, &problem);
    assert_non_null(strstr(diagnosis.next, "dlspool submit FILE"));
}

/* What the start scripts found missing is the first sentence; an exit code alone, or a line alone, is not theirs. */
static void a_path_that_a_start_script_refuses_is_told_first(void **state)
{
    (void)state;
    static const struct {
        int exit_code;
        const char *printed, *sentence, *reason;
    } cases[] = {
        {195, "dlspool: entry: /p/x.py: No such file or directory (checked on n1 as user ann)\n",
         "Nothing was started: entry: /p/x.py: No such file or directory (checked on n1 as user ann)",
         "StartError"},
        {195, "dlspool: dataset: /d/\033[2Jx: it is no use\nlater\n",
         "Nothing was started: dataset: /d/x: it is no use", "StartError"},
        {195, "entry: no\ndlspool: entries: no\n", "main-0 ended with exit code 195", "Exited"},
        {1, "dlspool: entry: /p/x.py: No such file or directory\n", "main-0 ended with exit code 1",
         "Exited"},
        {195, "", "main-0 ended with exit code 195", "Exited"},
        {193, "dlspool: a\nx\ndlspool: cannot write /w/.dlspool\n",
         "main-0 ended with exit code 193: cannot write /w/.dlspool", "Exited"},
        {193, "again, please\n", "main-0 ended with exit code 193", "Exited"},
    };
    struct settings settings = {.retry_first = 30000, .retry_longest = 1800000};
    const struct circumstances circumstances = {.settings = &settings, .id = "a-1m7y5dm13etbd"};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct diagnosis diagnosis;
        struct job_record record = {.id = TEXT("a-1m7y5dm13etbd")};
        struct job_poll poll = {
            .phase = PHASE_FAILED, .exit_code = cases[i].exit_code, .reason = "Exited"};
        const struct output_end printed = {"main-0", text_of(cases[i].printed)};
        snprintf(poll.detail, sizeof(poll.detail), "main-0 ended with exit code %d",
                 poll.exit_code);
        diagnosis_ended(&diagnosis, &circumstances, &record, &poll, NULL, &printed);
        assert_string_equal(diagnosis.sentence, cases[i].sentence);
        assert_string_equal(diagnosis.reason, cases[i].reason);
        assert_int_equal(diagnosis.failure.exit_code, cases[i].exit_code);
    }
}

/* The longest remedy does not push out what is to be typed. */
static void a_long_remedy_leaves_room_for_the_command(void **state)
{
    (void)state;
    static struct submission submission = {.outcome = SUBMIT_REFUSED, .mender = MENDER_OWNER};
    static char id[ID_SIZE];
    struct diagnosis diagnosis;
    struct settings settings = {.retry_change = 1000};
    const struct circumstances circumstances = {
        .settings = &settings, .id = id, .now = 1767225600000};
    const struct job_record record = {.id = text_of(id)};
    memset(id, 'i', sizeof(id) - 1);
    memset(submission.remedy, 'r', sizeof(submission.remedy) - 1);
    for (int mender = MENDER_MANIFEST; mender <= MENDER_TIME; mender++) {
        submission.mender = (enum submit_mender)mender;
        diagnosis_submission(&diagnosis, &circumstances, &record, &submission);
        assert_non_null(strstr(diagnosis.next, id));
    }
}

/* Nobody has to do anything about a registry that does not answer for a while. */
static void what_may_pass_is_retried_later(void **state)
{
    (void)state;
    static struct submission submission = {
        .outcome = SUBMIT_REFUSED, .mender = MENDER_TIME, .remedy = "ask an administrator"};
    struct diagnosis diagnosis;
    struct settings settings = {.retry_first = 30000, .retry_longest = 1800000};
    const struct circumstances circumstances = {
        .settings = &settings, .id = "a-1m7y5dm13etbd", .now = 1767225600000};
    struct job_record record = {.id = TEXT("a-1m7y5dm13etbd"), .image_line = 3, .backoff = 60000};
    diagnosis_submission(&diagnosis, &circumstances, &record, &submission);
    assert_int_equal(diagnosis.failure.when, RETRY_AT);
    assert_int_equal(diagnosis.failure.delay, 120000);
    assert_string_equal(diagnosis.class, "transient");
    assert_non_null(strstr(diagnosis.next, "it is retried by itself at "));
    assert_non_null(strstr(diagnosis.next, "\nIf it goes on: ask an administrator."));
}

#define FAILED                                                                                     \
    "2026-01-01T00:00:00.000Z failed reason=NodeLost class=transient exit_code=255 retry=at\n"
#define INTENT "2026-01-01T00:00:01.000Z intent attempt=2\n"
#define AGAIN FAILED INTENT

/* What passes by itself may not pass, so it is not retried for ever. */
static void what_passes_is_retried_as_often_as_the_site_says(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        int most; /* of the row of retry.txt; 0: it says nothing */
        enum retry_when when;
    } cases[] = {
        {AGAIN AGAIN, 0, RETRY_AT},
        {AGAIN AGAIN AGAIN, 0, RETRY_NEVER},
        {AGAIN AGAIN AGAIN AGAIN, 0, RETRY_NEVER},
        /* One that was written twice, as a crash came between, is one. */
        {AGAIN AGAIN FAILED, 0, RETRY_AT},
        {AGAIN FAILED AGAIN, 0, RETRY_AT},
        {AGAIN AGAIN AGAIN "2026-01-01T00:00:02.000Z retry by=ann uid=1\n", 0, RETRY_AT},
        {AGAIN, 1, RETRY_NEVER},
        {AGAIN AGAIN AGAIN AGAIN AGAIN, RETRY_MOST, RETRY_AT},
        {"", 0, RETRY_AT},
    };
    struct settings settings = {
        .retry_first = 30000, .retry_longest = 1800000, .transient_retries = 3};
    const struct circumstances circumstances = {
        .settings = &settings, .id = "a-1m7y5dm13etbd", .now = 1767225600000};
    const struct job_poll poll = {.phase = PHASE_FAILED, .exit_code = 255, .reason = "NodeLost"};
    const struct output_end printed = {"main-0", {"", 0}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct diagnosis diagnosis;
        struct job_record record = {.id = TEXT("a-1m7y5dm13etbd"),
                                    .request_file = TEXT("request.yaml")};
        char *path = unit_directory(), row[64];
        int job = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (cases[i].most)
            snprintf(row, sizeof(row), "reason NodeLost transient:%d\n", cases[i].most);
        else
            snprintf(row, sizeof(row), "reason NodeLost transient\n");
        struct retry_table *table = retry_table_parse(text_of(row), "retry.txt", &problem);
        assert_int_equal(record_create(job, &record, &problem), 0);
        /* Every other time the log is given, as its caller has read it, and there is no other. */
        struct buffer log = {0};
        buffer_add_string(&log, cases[i].log);
        if (i % 2)
            assert_int_equal(spool_file_create(job, "log", buffer_text(&log), 0644, &problem), 0);
        diagnosis_ended(&diagnosis, &circumstances, &record, &poll, table, &printed);
        if (i % 2 == 0)
            diagnosis.log = &log;
        assert_int_equal(
            diagnosis_write(&diagnosis, job, &record, false, circumstances.now, &problem), 0);
        if (diagnosis.failure.when != cases[i].when)
            fail_msg("case %zu: %d, expected %d", i, diagnosis.failure.when, cases[i].when);
        if (cases[i].when == RETRY_NEVER) {
            assert_non_null(strstr(diagnosis.next, "not retried any more: it was retried "));
            assert_true(text_ends(text_of(diagnosis.next), "run: dlspool retry a-1m7y5dm13etbd"));
            assert_int_equal(record.failure.next, 0);
        }
        retry_table_free(table);
        buffer_free(&log);
        close(job);
        unit_remove(path);
    }
}

/* As often as the job file says, and not once more. */
static void a_job_has_as_many_retries_as_it_asks_for(void **state)
{
    (void)state;
    struct settings settings = {.retry_first = 30000, .retry_longest = 1800000};
    const struct circumstances circumstances = {
        .settings = &settings, .id = "a-1m7y5dm13etbd", .now = 1767225600000};
    const struct job_poll poll = {.phase = PHASE_FAILED, .exit_code = 7, .reason = "Exited"};
    const struct output_end printed = {"main-0", {"", 0}};
    for (int retries = 0; retries <= 2; retries++) {
        struct job_record record = {.id = TEXT("a-1m7y5dm13etbd"), .retries = retries};
        for (int i = 0; i <= retries; i++) {
            struct diagnosis diagnosis;
            diagnosis_ended(&diagnosis, &circumstances, &record, &poll, NULL, &printed);
            assert_int_equal(diagnosis.failure.when, i < retries ? RETRY_AT : RETRY_NEVER);
        }
        assert_int_equal(record.retried, retries);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_passes_is_retried_as_often_as_the_site_says),
        cmocka_unit_test(a_job_has_as_many_retries_as_it_asks_for),
        cmocka_unit_test(a_file_is_named_as_its_owner_knows_it),
        cmocka_unit_test(what_to_type_has_the_id),
        cmocka_unit_test(a_path_that_a_start_script_refuses_is_told_first),
        cmocka_unit_test(what_may_pass_is_retried_later),
        cmocka_unit_test(a_long_remedy_leaves_room_for_the_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
