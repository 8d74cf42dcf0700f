/* tests/unit/day_names_test.c - jobs of done/ are found by name in files, and as well without */
#include "spool/day_names.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool/day_names_file.h"
#include "spool/meant.h"
#include "stages/track/past_days.h"
#include "tests/unit/unit_spool.h"

static const char day[] = "2026-03-01", names_path[] = "history/names/2026-03-01";
enum { JOBS = 1200 };

/* A day with jobs of 30 names, changed an hour ago. */
static void make_day(void)
{
    const struct timespec times[2] = {{time(NULL) - 3600, 123456789},
                                      {time(NULL) - 3600, 123456789}};
    char name[128], token[TOKEN_LENGTH + 1];
    mkdirat(spool.states[STATE_DONE], day, 0755);
    for (int i = 0; i < JOBS; i++) {
        id_token_make(1772323200000 + i, token);
        snprintf(name, sizeof(name), "%s/run-%d-%s", day, i % 30, token);
        assert_int_equal(mkdirat(spool.states[STATE_DONE], name, 0755), 0);
    }
    assert_int_equal(utimensat(spool.states[STATE_DONE], day, times, 0), 0);
}

static int count_visit(void *context, const struct job_place *place)
{
    ++*(int *)context;
    assert_int_equal(place->state, STATE_DONE);
    assert_string_equal(place->date, day);
    assert_true(id_valid(text_of(place->id)));
    return 0;
}

static int count_begun(const char *begin)
{
    int count = 0;
    assert_int_equal(day_names_visit(&spool, day, text_of(begin), count_visit, &count), 0);
    return count;
}

static void check_all(void)
{
    assert_int_equal(count_begun("run-7-"), JOBS / 30);
    assert_int_equal(count_begun("run-0-"), JOBS / 30);
    assert_int_equal(count_begun("run-9-"), JOBS / 30);
    assert_int_equal(count_begun("run-29"), JOBS / 30);
    assert_int_equal(count_begun("run-1"), 11 * JOBS / 30);
    assert_int_equal(count_begun(""), JOBS);
    assert_int_equal(count_begun("a"), 0);
    assert_int_equal(count_begun("z"), 0);
    assert_int_equal(count_begun("run-7-zzzz"), 0);
    assert_int_equal(day_names_count_done(&spool), JOBS);
}

static struct system_calls real;
static int64_t opened_directories;
static ssize_t count_getdents(int directory, void *entries, size_t length)
{
    opened_directories++;
    return real.getdents(directory, entries, length);
}

static void test_the_file_says_what_the_directory_says(void **state)
{
    (void)state;
    make_day();
    check_all();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    check_all();
    assert_int_equal(day_names_file_write(&spool, day, &error), 0);
}

static void test_the_directory_is_not_read_where_a_file_is(void **state)
{
    (void)state;
    make_day();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    real = sys;
    sys.getdents = count_getdents;
    opened_directories = 0;
    assert_int_equal(count_begun("run-7-"), JOBS / 30);
    sys = real;
    assert_int_equal(opened_directories, 0);
}

static void test_a_changed_day_is_read_again(void **state)
{
    (void)state;
    char name[128];
    make_day();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    snprintf(name, sizeof(name), "%s/late-0123456789abc", day);
    assert_int_equal(mkdirat(spool.states[STATE_DONE], name, 0755), 0);
    assert_int_equal(count_begun("late"), 1);
    assert_int_equal(day_names_count_done(&spool), JOBS + 1);
    /* It may change again within the precision of its time. */
    assert_int_equal(day_names_file_write(&spool, day, &error), 0);
}

static void damage(off_t at, const char *bytes)
{
    int file = openat(spool.root, names_path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, strlen(bytes), at), strlen(bytes));
    close(file);
}

static void test_a_damaged_file_is_passed_over(void **state)
{
    (void)state;
    struct stat status;
    make_day();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    assert_int_equal(fstatat(spool.root, names_path, &status, 0), 0);
    for (off_t at = 0; at < status.st_size; at += status.st_size / 37) {
        char kept[5] = "";
        int file = openat(spool.root, names_path, O_RDONLY);
        assert_int_equal(pread(file, kept, 4, at), 4);
        close(file);
        damage(at, "\n??\n");
        assert_true(count_begun("run-7-") >= JOBS / 30);
        damage(at, kept);
    }
    assert_int_equal(
        truncate(arena_printf(arena, "%s/%s", path, names_path).data, status.st_size / 2), 0);
    check_all();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    check_all();
}

static int synced;

static int note_fsync(int file)
{
    synced++;
    return fsync(file);
}

static int rename_after_sync(int from_directory, const char *from, int to_directory, const char *to)
{
    assert_int_equal(synced, 1);
    return renameat(from_directory, from, to_directory, to);
}

/* With the name and not the bytes, a power cut would leave a file that says of no job that it is there. */
static void test_a_file_is_durable_before_it_has_its_name(void **state)
{
    (void)state;
    const struct system_calls kept = sys;
    make_day();
    synced = 0;
    sys.fsync = note_fsync;
    sys.renameat = rename_after_sync;
    int result = day_names_file_write(&spool, day, &error);
    sys = kept;
    assert_int_equal(result, 1);
    assert_int_equal(synced, 1);
}

static void test_words_mean_jobs_of_files(void **state)
{
    (void)state;
    struct meant meant;
    make_day();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    const struct meaning by_name = {.spool = &spool, .word = TEXT("Run_7")};
    assert_int_equal(meant_job(&by_name, &meant, &error), 1);
    assert_int_equal(meant.total, JOBS / 30);
    const struct meaning none = {.spool = &spool, .word = TEXT("other")};
    assert_int_equal(meant_job(&none, &meant, &error), 1);
    assert_int_equal(meant.total, 0);
}

static void test_files_of_days_that_are_gone_go(void **state)
{
    (void)state;
    make_day();
    assert_int_equal(day_names_file_write(&spool, day, &error), 1);
    day_names_file_sweep(&spool);
    assert_int_equal(faccessat(spool.root, names_path, F_OK, 0), 0);
    assert_int_equal(renameat(spool.states[STATE_DONE], day, spool.states[STATE_DONE], "gone"), 0);
    day_names_file_sweep(&spool);
    assert_int_equal(faccessat(spool.root, names_path, F_OK, 0), -1);
}

static int64_t elapsed = 1000;

static int64_t tell_time(void)
{
    return (int64_t)time(NULL) * 1000;
}

static int64_t tell_elapsed(void)
{
    return elapsed;
}

/* Does the track stage write a file at that time?  It is gone afterwards. */
static bool is_written(struct past_days *past, struct stage *stage, int64_t at)
{
    elapsed = at;
    assert_true(past_days_tend(past, stage) > at);
    return unlinkat(spool.root, names_path, 0) == 0;
}

static void test_track_writes_files_now_and_then(void **state)
{
    (void)state;
    struct past_days past = {.next = 0};
    struct stage stage = {.name = "track", .spool = spool};
    const int64_t soon = 60000, hour = 3600000;
    make_day();
    clock_replace(tell_time, tell_elapsed);
    assert_false(is_written(&past, &stage, 1000));
    assert_true(is_written(&past, &stage, 1000 + soon));
    /* No day is left: the next look is an hour later. */
    assert_false(is_written(&past, &stage, 1000 + 2 * soon));
    assert_false(is_written(&past, &stage, 1000 + 3 * soon));
    assert_true(is_written(&past, &stage, 1000 + 2 * soon + hour));
    clock_replace(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_file_says_what_the_directory_says, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(test_the_directory_is_not_read_where_a_file_is, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(test_a_changed_day_is_read_again, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_damaged_file_is_passed_over, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_file_is_durable_before_it_has_its_name, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(test_words_mean_jobs_of_files, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_files_of_days_that_are_gone_go, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_track_writes_files_now_and_then, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
