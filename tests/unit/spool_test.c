/* the spool's directories: making, moving, finding; lost replies; settings */
#include "spool/file.h"
#include "spool/jobs.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"
#include "spool/settings.h"

static const char id_one[] = "one-0123456789abc";
static const char id_two[] = "one-0123456789abd";

struct fixture {
    char *path;
    struct spool spool;
    struct system_calls real;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error error;
    fixture->path = unit_directory();
    fixture->real = sys;
    if (spool_create(fixture->path, &error) || spool_open(&fixture->spool, fixture->path, &error))
        return -1;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    sys = fixture->real;
    spool_close(&fixture->spool);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

static void make_job(struct spool *spool, const char *id, enum state state)
{
    struct error error;
    int job = job_create(spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(spool_file_create(job, "request.yaml", TEXT("name: x\n"), 0644, &error), 0);
    close(job);
    assert_int_equal(job_publish(spool, id, state, &error), 0);
}

static void incoming_is_a_drop_directory(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    assert_int_equal(fstat(fixture->spool.incoming, &status), 0);
    assert_int_equal(status.st_mode & 07777, 03777);
    assert_int_equal(fstat(fixture->spool.claims, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
}

static void jobs_move_and_are_found(void **state)
{
    struct fixture *fixture = *state;
    struct spool *spool = &fixture->spool;
    struct job_place place, found;
    struct error error;
    make_job(spool, id_one, STATE_RENDERED);
    assert_int_equal(jobs_find(spool, text_of(id_one), &place, &error), 0);
    assert_int_equal(place.state, STATE_RENDERED);
    assert_int_equal(job_move(spool, &place, STATE_SUBMITTED, 0, &error), 0);
    assert_int_equal(job_move(spool, &place, STATE_DONE, 1800000000000, &error), 0);
    assert_string_equal(place.date, "2027-01-15");
    assert_int_equal(jobs_find(spool, TEXT("one"), &found, &error), 0);
    assert_int_equal(found.state, STATE_DONE);
    assert_string_equal(found.date, "2027-01-15");
    int job = job_open(spool, &found);
    assert_true(job >= 0);
    close(job);
    make_job(spool, id_two, STATE_FAILED);
    assert_int_equal(jobs_find(spool, TEXT("one"), &found, &error), 1);
    assert_non_null(strstr(error.text, "2 jobs"));
    assert_int_equal(jobs_find(spool, TEXT("two"), &found, &error), 1);
    assert_non_null(strstr(error.text, "no job"));
    assert_int_equal(jobs_find(spool, TEXT("../one"), &found, &error), 1);
}

static int lying_renameat(int from, const char *old_name, int to, const char *new_name)
{
    renameat(from, old_name, to, new_name);
    errno = ETIMEDOUT;
    return -1;
}

static int failing_renameat(int from, const char *old_name, int to, const char *new_name)
{
    (void)from, (void)old_name, (void)to, (void)new_name;
    errno = EIO;
    return -1;
}

/* A rename whose reply was lost has happened: that is success.  One that did not happen is not. */
static void a_lost_reply_is_looked_into(void **state)
{
    struct fixture *fixture = *state;
    struct job_place place = {.state = STATE_RENDERED};
    struct error error;
    memcpy(place.id, id_one, sizeof(id_one));
    make_job(&fixture->spool, id_one, STATE_RENDERED);
    sys.renameat = lying_renameat;
    assert_int_equal(job_move(&fixture->spool, &place, STATE_FAILED, 0, &error), 0);
    assert_int_equal(place.state, STATE_FAILED);
    sys.renameat = failing_renameat;
    assert_int_equal(job_move(&fixture->spool, &place, STATE_RENDERED, 0, &error), -1);
    assert_int_equal(place.state, STATE_FAILED);
    assert_non_null(strstr(error.text, "Input/output error"));
    /* Nor is it one when something else has the new name. */
    sys = fixture->real;
    make_job(&fixture->spool, id_one, STATE_RENDERED);
    sys.renameat = failing_renameat;
    assert_int_equal(job_move(&fixture->spool, &place, STATE_RENDERED, 0, &error), -1);
    assert_int_equal(place.state, STATE_FAILED);
}

/* ---- what is on the disk, and when ---- */

static struct {
    ino_t inodes[32]; /* that were synced, in their order; 0: a rename */
    int count;
} noted;

static int noting_fsync(int file)
{
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    noted.inodes[noted.count++ % 32] = status.st_ino;
    return 0;
}

static int noting_renameat(int from, const char *old_name, int to, const char *new_name)
{
    noted.inodes[noted.count++ % 32] = 0;
    return renameat(from, old_name, to, new_name);
}

static ino_t inode_of(int directory, const char *name)
{
    struct stat status;
    assert_int_equal(fstatat(directory, name, &status, 0), 0);
    return status.st_ino;
}

static void note_calls(void)
{
    noted.count = 0;
    sys.fsync = noting_fsync;
    sys.renameat = noting_renameat;
}

/* A new day is durable before a job is moved into it, and the job's name in it once that is asked for. */
static void a_day_of_done_is_durable(void **state)
{
    struct fixture *fixture = *state;
    struct job_place place = {.state = STATE_SUBMITTED};
    struct error error;
    int done = fixture->spool.states[STATE_DONE];
    memcpy(place.id, id_one, sizeof(id_one));
    make_job(&fixture->spool, id_one, STATE_SUBMITTED);
    note_calls();
    assert_int_equal(job_move(&fixture->spool, &place, STATE_DONE, 1800000000000, &error), 0);
    assert_int_equal(noted.count, 2);
    assert_int_equal(noted.inodes[0], inode_of(done, "."));
    assert_int_equal(noted.inodes[1], 0);
    assert_int_equal(job_sync_place(&fixture->spool, &place, &error), 0);
    assert_int_equal(noted.count, 3);
    assert_int_equal(noted.inodes[2], inode_of(done, "2027-01-15"));
}

/* Jobs of a batch move one after the other, some of them after midnight: each day is opened and made durable once. */
static void the_days_of_a_batch_are_durable(void **state)
{
    struct fixture *fixture = *state;
    struct spool *spool = &fixture->spool;
    const int64_t noon = 1800000000000, day_long = 86400000;
    const int64_t times[] = {noon, noon, noon + day_long};
    struct job_day day = {.directory = -1};
    struct error error;
    assert_int_equal(job_close_day(spool, &day, &error), 0);
    for (size_t i = 0; i < ARRAY_COUNT(times); i++) {
        struct job_place place = {.state = STATE_SUBMITTED};
        snprintf(place.id, sizeof(place.id), "one-012345678%04zu", i);
        make_job(spool, place.id, STATE_SUBMITTED);
        if (i == 0)
            note_calls();
        assert_int_equal(job_move_done(spool, &place, &day, times[i], &error), 0);
        assert_int_equal(place.state, STATE_DONE);
        assert_string_equal(place.date, i < 2 ? "2027-01-15" : "2027-01-16");
        int job = job_open(spool, &place);
        assert_true(job >= 0);
        close(job);
    }
    assert_int_equal(job_close_day(spool, &day, &error), 0);
    assert_int_equal(day.directory, -1);
    int done = spool->states[STATE_DONE];
    const ino_t wanted[] = {
        inode_of(done, "."), 0, /* published: */ 0,          0, 0, inode_of(done, "2027-01-15"),
        inode_of(done, "."), 0, inode_of(done, "2027-01-16")};
    assert_int_equal(noted.count, ARRAY_COUNT(wanted));
    assert_memory_equal(noted.inodes, wanted, sizeof(wanted));
}

/* A crash leaves the old file, or the new one: never a name without its bytes. */
static void what_replaces_a_file_is_durable_before(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    int root = fixture->spool.root;
    note_calls();
    assert_int_equal(spool_file_replace(root, "x", TEXT("1"), 0644, &error), 0);
    assert_int_equal(noted.count, 2);
    assert_int_equal(noted.inodes[0], inode_of(root, "x"));
    assert_int_equal(spool_file_replace_private(root, "x", TEXT("2"), (gid_t)-1, &error), 0);
    assert_int_equal(noted.count, 4);
    assert_int_equal(noted.inodes[2], inode_of(root, "x"));
}

/* What may have a user's secrets in it. */
static void private_files_are_not_everybodys(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    struct error error;
    int root = fixture->spool.root;
    assert_int_equal(spool_file_create_private(root, "a", TEXT("1"), (gid_t)-1, &error), 0);
    assert_int_equal(spool_file_replace_private(root, "b", TEXT("1"), (gid_t)-1, &error), 0);
    for (const char *name = "ab"; *name; name++) {
        assert_int_equal(fstatat(root, (char[]){*name, '\0'}, &status, 0), 0);
        assert_int_equal(status.st_mode & 07777, 0640);
    }
}

static void removing_takes_the_whole_tree(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    int job = job_create(&fixture->spool, id_one, &error);
    assert_int_equal(mkdirat(job, "output", 0755), 0);
    assert_int_equal(spool_file_create(job, "output/main-0.log", TEXT("x"), 0644, &error), 0);
    assert_int_equal(symlinkat("/etc", job, "link"), 0);
    close(job);
    assert_int_equal(job_remove(fixture->spool.new_jobs, id_one, &error), 0);
    assert_int_equal(faccessat(fixture->spool.new_jobs, id_one, F_OK, 0), -1);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

/* One daemon makes a job of a claim; another, which was taken for dead, wakes up and does the same. */
static void what_another_epoch_writes_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    struct spool woken = fixture->spool;
    fixture->spool.epoch = 2;
    woken.epoch = 1;
    int job = job_create(&fixture->spool, id_one, &error);
    assert_int_equal(spool_file_create(job, "log", TEXT("whole"), 0644, &error), 0);
    int part = job_create(&woken, id_one, &error);
    assert_true(part >= 0);
    job_discard(&woken, id_one);
    assert_int_equal(job_publish(&fixture->spool, id_one, STATE_RENDERED, &error), 0);
    assert_int_equal(faccessat(fixture->spool.states[STATE_RENDERED], id_one, F_OK, 0), 0);
    assert_int_equal(faccessat(job, "log", F_OK, 0), 0);
    close(part);
    close(job);
}

static void write_settings(struct fixture *fixture, const char *text)
{
    struct error error;
    assert_int_equal(
        spool_file_replace(fixture->spool.root, "dlspool.yaml", text_of(text), 0644, &error), 0);
}

static void settings_have_defaults_and_limits(void **state)
{
    struct fixture *fixture = *state;
    struct settings settings;
    struct error error;
    write_settings(fixture, "executor: null\nquiet_time: 3\nadministrators: [root]\n");
    assert_int_equal(settings_read(&settings, &fixture->spool, &error), 0);
    assert_true(text_is(settings.executor, "null"));
    assert_int_equal(settings.quiet_time, 3000);
    assert_int_equal(settings.retry_first, 30000);
    assert_int_equal(settings.administrator_count, 1);
    assert_false(settings_prunes(&settings));
    settings_free(&settings);
    write_settings(fixture, "keep: {done: 90d, failed: null, size: 2Ti}\n");
    assert_int_equal(settings_read(&settings, &fixture->spool, &error), 0);
    assert_true(settings_prunes(&settings));
    assert_int_equal(settings.keep.done, 90 * (int64_t)86400000);
    assert_int_equal(settings.keep.failed, 0);
    assert_int_equal(settings.keep.size, (int64_t)2 << 40);
    settings_free(&settings);

    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"quiet_tme: 3s\n", "did you mean quiet_time"},
        {"quiet_time: soon\n",
         "dlspool.yaml:1:13: quiet_time: found \"soon\", expected a duration"},
        {"batch: 0\n", "from 1 to 1024"},
        {"batch: 1.5\n", "whole number"},
        {"sync: maybe\n", "filesystem or none"},
        {"administrators: [nobody-of-that-name]\n", "administrators"},
        {"keep: {done: 90}\n",
         "keep.done: found 90, expected a duration such as 500ms, 30s or 5m, from 1 h"},
        {"keep: {size: lots}\n", "keep.size: found \"lots\", expected a size such as 500G or 2Ti"},
        {"keep: {outputs: 3d}\n", "keep.outputs: unknown setting; did you mean output?"},
        {"local: 3\n", "local: found 3, expected settings as name: value"},
        {"- a\n", "found a list"},
        {"a: b: c\n", "dlspool.yaml:1"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        write_settings(fixture, wrong[i].text);
        assert_int_equal(settings_read(&settings, &fixture->spool, &error), -1);
        if (!strstr(error.text, wrong[i].sentence))
            fail_msg("for %s found %s", wrong[i].text, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(incoming_is_a_drop_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_move_and_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_reply_is_looked_into, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_day_of_done_is_durable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_days_of_a_batch_are_durable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_replaces_a_file_is_durable_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(private_files_are_not_everybodys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removing_takes_the_whole_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_another_epoch_writes_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settings_have_defaults_and_limits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
