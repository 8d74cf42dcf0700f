/* progress_file_test.c - spool/progress_file.c: what is written reads back, and nothing else */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "spool/progress_file.h"

static struct progress make_progress(void)
{
    struct progress progress = {.time = 1790000000123,
                                .attempt = 2,
                                .started = 1789999000000,
                                .done = 120.5,
                                .total = 400,
                                .most = 130,
                                .unit = 1790000000000,
                                .size = 2000,
                                .since = 1789999500000,
                                .rate = 1.0 / 3,
                                .spread = 0.05,
                                .samples = 50,
                                .start_up = 1200,
                                .restart = -1,
                                .earlier = 7};
    struct progress_at_size *at = progress_file_entry_at(&progress, 1, 1000);
    at->rate = 0.2;
    at->running = 60000;
    at = progress_file_entry_at(&progress, 2, 2000);
    at->rate = 1e-9;
    at->units = 1e15;
    at->running = 30000;
    at->resize = 12;
    at->cpu_used = 50000;
    at->cpu_allocated = 60000;
    return progress;
}

static void reads_back(void **state)
{
    (void)state;
    char *path = unit_directory();
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct progress progress = make_progress(), read;
    struct error error;
    assert_int_equal(progress_file_read(job, &read, &error), 1);
    assert_int_equal(progress_file_write(job, &progress, &error), 0);
    progress.done = 121;
    assert_int_equal(progress_file_write(job, &progress, &error), 0);
    assert_int_equal(progress_file_read(job, &read, &error), 0);
    struct buffer first = {0}, second = {0};
    progress_file_format(&progress, &first);
    progress_file_format(&read, &second);
    assert_string_equal(first.data, second.data);
    assert_int_equal(read.size_count, 2);
    assert_true(read.done == 121 && read.rate == 1.0 / 3 && read.sizes[1].units == 1e15);
    assert_int_equal(read.sizes[0].cpu_used, -1);
    assert_int_equal(progress_file_running(&read, true), 90007);
    assert_int_equal(progress_file_running(&read, false), 30000);
    buffer_free(&first);
    buffer_free(&second);
    close(job);
    unit_remove(path);
}

static void old_sizes_go(void **state)
{
    (void)state;
    struct progress progress = {.attempt = 1};
    for (int i = 1; i <= 3 * PROGRESS_MOST_SIZES; i++)
        progress_file_entry_at(&progress, 1, i)->running = 1000;
    assert_int_equal(progress.size_count, PROGRESS_MOST_SIZES);
    assert_int_equal(progress.sizes[0].size, 2 * PROGRESS_MOST_SIZES + 1);
    assert_int_equal(progress_file_running(&progress, true), 3000 * PROGRESS_MOST_SIZES);
}

static void damage_is_seen(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "",
        "nonsense\n",
        "2026-11-21T03:09:24.123Z progress attempt=x\n",
        "2026-11-21T03:09:24.123Z progress attempt=1 done=nan\n",
        "2026-11-21T03:09:24.123Z progress attempt=1 rate=-1\n",
        "2026-11-21T03:09:24.123Z progress attempt=1 total=1e999\n",
        "2026-11-21T03:09:24.123Z progress attempt=1 done=0x10\n",
        "2026-11-21T03:09:24.123Z progress attempt=1 started=yesterday\n",
        "2026-11-21T03:09:24.123Z progress attempt=1",
        "2026-11-21T03:09:24.123Z size attempt=1 size=1\n",
        "2026-11-21T03:09:24.123Z progress attempt=1\n"
        "2026-11-21T03:09:24.123Z size size=99999999999999999999\n",
        "2026-11-21T03:09:24.123Z progress attempt=1\n"
        "2026-11-21T03:09:24.123Z size running_ms=900000000000000000\n"};
    struct progress progress;
    struct error error;
    for (size_t i = 0; i < ARRAY_COUNT(damaged); i++) {
        assert_int_equal(progress_file_parse(text_of(damaged[i]), &progress, &error), -1);
        assert_int_equal(progress.size_count, 0);
    }
    /* What is not known is passed over. */
    assert_int_equal(
        progress_file_parse(TEXT("2026-11-21T03:09:24.123Z progress attempt=1 new=\"a b\" "
                                 "done=3\n2026-11-21T03:09:24.123Z other\n"),
                            &progress, &error),
        0);
    assert_true(progress.done == 3 && progress.start_up == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(old_sizes_go),
        cmocka_unit_test(damage_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
