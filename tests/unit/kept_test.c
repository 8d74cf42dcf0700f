/* kept_test.c - stages/metrics/kept.c: counts go on from the file, whatever happened since, and none goes back */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "base/tally.h"
#include "stages/metrics/kept.h"
#include "tests/unit/unit_arena.h"

static char *path;
static struct spool spool;

static int open_all(void **state)
{
    set_up(state);
    path = unit_directory();
    assert_int_equal(spool_create(path, &error), 0);
    assert_int_equal(spool_open(&spool, path, &error), 0);
    return 0;
}

static int close_all(void **state)
{
    tally_end();
    spool_close(&spool);
    unit_remove(path);
    return tear_down(state);
}

static void add_attempt(int number, const char *more)
{
    char line[512];
    snprintf(
        line, sizeof(line),
        "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=%d user=ann %s whole=1\n",
        number, more);
    assert_int_equal(usage_append(&spool, text_of(line), 1790000000000, &error), 0);
}

/* What a series has after another look at the accounts, by a process that knows the file only. */
static int64_t count_of(const char *name)
{
    struct kept *kept = kept_read(&spool, &error);
    assert_non_null(kept);
    assert_int_equal(kept_read_accounts(kept, &spool, &error), 0);
    kept_take_tally(kept);
    const struct series *series = series_find(kept_series(kept), name);
    int64_t count = series ? (int64_t)series->count : -1;
    assert_int_equal(kept_write(kept, &spool, &error), 0);
    kept_free(kept);
    return count;
}

static void attempts_are_summed_up_once(void **state)
{
    (void)state;
    static const char name[] = "attempts_total{outcome=\"failed\",class=\"unknown\"}";
    assert_int_equal(count_of(name), -1);
    add_attempt(1, "outcome=failed class=unknown reason=Exited met=no");
    assert_int_equal(count_of(name), 1);
    add_attempt(1, "outcome=failed class=unknown reason=Exited met=no");
    add_attempt(2, "outcome=failed class=unknown reason=Exited met=no");
    assert_int_equal(count_of(name), 2);
    assert_int_equal(count_of("deadlines_total{result=\"missed\"}"), 1);
    char file[512];
    snprintf(file, sizeof(file), "%s/history/usage/2026-09", path);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(count_of(name), 2);
    add_attempt(3, "outcome=failed class=unknown");
    assert_int_equal(count_of(name), 3);
}

static void what_processes_count_goes_on(void **state)
{
    (void)state;
    for (int daemon = 1; daemon <= 3; daemon++) {
        assert_int_equal(tally_start(1, &error), 0);
        tally_use(0);
        tally_add("jobs_accepted_total", "", 1);
        assert_int_equal(count_of("jobs_accepted_total"), 2 * daemon - 1);
        tally_add("jobs_accepted_total", "", 1);
        tally_add("not_ours_total", "", 1);
        assert_int_equal(count_of("jobs_accepted_total"), 2 * daemon);
        tally_add("jobs_accepted_total", "", 1); /* nobody has seen this one when the daemon dies */
        tally_end();
        assert_int_equal(count_of("jobs_accepted_total"), 2 * daemon); /* by hand */
        assert_int_equal(count_of("not_ours_total"), -1);
    }
}

/* ---- kills ---- */

static struct system_calls real;
static int calls_left; /* until the process is killed */

static void count_call(void)
{
    if (--calls_left < 0)
        _exit(0);
}

static int killed_openat(int directory, const char *name, int flags, mode_t mode)
{
    count_call();
    return real.openat(directory, name, flags, mode);
}

static ssize_t killed_write(int file, const void *bytes, size_t length)
{
    count_call();
    return real.write(file, bytes,
                      (length + 1) / 2); /* as much as is written before the next call */
}

static int killed_fsync(int file)
{
    count_call();
    return real.fsync(file);
}

static int killed_renameat(int from, const char *old_name, int to, const char *new_name)
{
    count_call();
    return real.renameat(from, old_name, to, new_name);
}

static int killed_unlinkat(int directory, const char *name, int flags)
{
    count_call();
    return real.unlinkat(directory, name, flags);
}

/* The counts of a child that is killed before that call of its own; true when it came to its end. */
static bool count_until(int calls)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        calls_left = calls;
        sys.openat = killed_openat;
        sys.write = killed_write;
        sys.fsync = killed_fsync;
        sys.renameat = killed_renameat;
        sys.unlinkat = killed_unlinkat;
        count_of("x");
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status) == 1;
}

static void a_kill_loses_no_count(void **state)
{
    (void)state;
    static const char name[] = "attempts_total{outcome=\"succeeded\",class=\"\"}";
    real = sys;
    bool whole = false;
    for (int calls = 0; !whole; calls++) {
        add_attempt(calls, "outcome=succeeded");
        whole = count_until(calls);
        assert_int_equal(count_of(name), calls + 1);
        assert_true(calls < 1000);
    }
}

static void a_day_counts_while_it_is_the_same(void **state)
{
    (void)state;
    struct kept *kept = kept_read(&spool, &error);
    kept_note_day(kept, "2026-09-21", 1000, 7);
    assert_int_equal(kept_day(kept, "2026-09-21", 1000), 7);
    assert_int_equal(kept_day(kept, "2026-09-21", 1001), -1);
    assert_int_equal(kept_write(kept, &spool, &error), 0);
    kept_free(kept);
    kept = kept_read(&spool, &error);
    assert_int_equal(kept_day(kept, "2026-09-21", 1000), 7);
    assert_int_equal(kept_day(kept, "2026-09-22", 1000), -1);
    kept_free(kept);
}

static void a_damaged_file_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    static const char bytes[] = "\xff\xfe nonsense\n"
                                "2026-09-21T13:33:20.000Z series of=x_total count=-5 sum=nan\n"
                                "2026-09-21T13:33:20.000Z read file=much-too-long offset=-1\n"
                                "2026-09-21T13:33:20.000Z day of=2026-09-21-and-more jobs=1\n"
                                "2026-09-21T13:33:20.000Z series of=\"attempts_total{outcome=\\";
    char file[512];
    snprintf(file, sizeof(file), "%s/history", path);
    assert_int_equal(mkdir(file, 0755), 0);
    snprintf(file, sizeof(file), "%s/history/metrics", path);
    int opened = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(write(opened, bytes, sizeof(bytes) - 1), sizeof(bytes) - 1);
    assert_int_equal(close(opened), 0);
    add_attempt(1, "outcome=succeeded");
    assert_int_equal(count_of("attempts_total{outcome=\"succeeded\",class=\"\"}"), 1);
    assert_int_equal(count_of("x_total"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(attempts_are_summed_up_once, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_processes_count_goes_on, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_kill_loses_no_count, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_day_counts_while_it_is_the_same, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_read_as_far_as_it_goes, open_all,
                                        close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
