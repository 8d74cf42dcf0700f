/* the line of an attempt in the accounts, and what it ran, from the files of its job */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "stages/shared/account_files.h"

#define LOG                                                                                        \
    "2026-11-22T11:00:00.000Z accepted\n"                                                          \
    "2026-11-22T11:00:01.000Z submitted attempt=1\n"                                               \
    "2026-11-22T11:00:09.000Z started attempt=1 at=2026-11-22T11:00:03.000Z\n"                     \
    "2026-11-22T11:00:09.000Z ended attempt=1 at=2026-11-22T11:00:05.000Z outcome=succeeded\n"

static char *path;
static int job;

static int set_up(void **state)
{
    (void)state;
    path = unit_directory();
    job = open(path, O_RDONLY | O_DIRECTORY);
    return eventlog_append(job, TEXT(LOG), NULL);
}

static int tear_down(void **state)
{
    (void)state;
    close(job);
    unit_remove(path);
    return 0;
}

static void account(struct progress *progress, const char *wanted)
{
    const struct job_record record = {
        .id = TEXT("digits-1m7y5dm13etbd"), .attempt = 1, .cpus = 2000};
    struct arena *arena = arena_new();
    struct buffer line = {0};
    account_files_line(job, &record, true, arena, progress, &line);
    assert_non_null(strstr(line.data, wanted));
    buffer_free(&line);
    arena_free(arena);
}

static void its_log_tells_how_long_it_ran(void **state)
{
    (void)state;
    struct progress progress;
    account(&progress, " cpu_held_ms=4000");
    assert_int_equal(progress.attempt, 1);
    assert_int_equal(progress.size_count, 1);
    assert_int_equal(progress.sizes[0].running, 2000);
    assert_int_equal(progress.sizes[0].size, 1);
}

static void its_progress_file_tells_more(void **state)
{
    (void)state;
    struct progress written, progress;
    progress_file_assume(&written, 1, 1, 0, 1500);
    written.memory = 4096;
    assert_int_equal(progress_file_write(job, &written, NULL), 0);
    account(&progress, " memory_peak_bytes=4096");
    assert_int_equal(progress.sizes[0].running, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(its_log_tells_how_long_it_ran, set_up, tear_down),
        cmocka_unit_test_setup_teardown(its_progress_file_tells_more, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
