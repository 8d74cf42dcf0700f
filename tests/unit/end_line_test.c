/* tests/unit/end_line_test.c - the line of the log for a job that has come to an end, and for no other */
#include "base/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "spool/record.h"
#include "stages/shared/diagnosis.h"
#include "stages/shared/end_line.h"

static char *path;
static int job;

static int set_up(void **state)
{
    (void)state;
    path = unit_directory();
    job = open(path, O_RDONLY | O_DIRECTORY);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(job);
    unit_remove(path);
    return 0;
}

/* Log the end of the job, by what its files say or, when it is done, what is known of it, and return what was
 * logged without -v. */
static const char *logged(const struct job_record *record, int64_t elapsed)
{
    static char line[512];
    FILE *file = tmpfile();
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    if (record->failed)
        end_line_log(job, record->id.data, STATE_FAILED);
    else
        end_line_log_done(record, elapsed);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
    fclose(file);
    return line;
}

/* Log the end of an attempt for this reason. */
static const char *line_of(const char *reason, const char *class, enum retry_when when)
{
    struct error error;
    struct job_record record = {.id = TEXT("digits-1m7y5dm13etbd"),
                                .name = TEXT("digits"),
                                .owner = TEXT("ann"),
                                .accepted = 1767268801000,
                                .attempt = 2,
                                .failed = true,
                                .failure = {.when = when,
                                            .reason = text_of(reason),
                                            .class = text_of(class),
                                            .exit_code = 3,
                                            .failed = 1767268802000,
                                            .next = when == RETRY_AT ? 1767268803000 : 0}};
    unlinkat(job, "job.yaml", 0);
    assert_int_equal(record_create(job, &record, &error), 0);
    return logged(&record, -1);
}

static void a_failure_has_a_line(void **state)
{
    (void)state;
    assert_non_null(strstr(line_of("Exited", "unknown", RETRY_AT),
                           ": owner=ann state=failed reason=Exited class=unknown exit_code=3 "
                           "retry=at attempt=2"));
    assert_non_null(strstr(line_of("Exited", "permanent", RETRY_NEVER), "retry=never"));
}

static void what_goes_on_by_itself_has_none(void **state)
{
    (void)state;
    assert_string_equal(line_of("NoRoom", "transient", RETRY_ROOM), "");
    assert_string_equal(line_of("Unavailable", "transient", RETRY_EXECUTOR), "");
    assert_string_equal(line_of(REASON_RESIZED, "transient", RETRY_AT), "");
    assert_string_equal(line_of(REASON_PREEMPTED, "transient", RETRY_AT), "");
}

static void what_is_done_has_a_line_and_needs_no_file(void **state)
{
    (void)state;
    struct job_record record = {
        .id = TEXT("digits-1m7y5dm13etbd"), .owner = TEXT("ann"), .attempt = 1};
    assert_non_null(
        strstr(logged(&record, 12345),
               ": digits-1m7y5dm13etbd: owner=ann state=done elapsed=12.3s attempt=1\n"));
    assert_non_null(strstr(logged(&record, -1), ": owner=ann state=done attempt=1\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failure_has_a_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_goes_on_by_itself_has_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_done_has_a_line_and_needs_no_file, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
