/* tests/unit/watcher_writers_test.c - who has a file open for writing */
#include "tests/unit/watcher_support.h"

#include <sys/mman.h>

#include "watcher/mount.h"
#include "watcher/writers.h"

static struct scratch scratch;
static struct system_calls real;

static int setup(void **state)
{
    (void)state;
    real = sys;
    scratch_open(&scratch);
    put(scratch.directory, "file", "name: a\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sys = real;
    scratch_close(&scratch);
    return 0;
}

static int open_it(int flags)
{
    int file = openat(scratch.directory, "file", flags | O_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

static void need_leases(void)
{
    int file = open_it(O_RDONLY);
    enum writers writers = writers_hold(file);
    close(file);
    if (writers == WRITERS_UNKNOWN) {
        print_message("skipped: the scratch directory's file system has no leases\n");
        skip();
    }
}

static void an_open_writer_is_seen(void **state)
{
    (void)state;
    need_leases();
    int writer = open_it(O_WRONLY);
    int file = open_it(O_RDONLY);
    assert_int_equal(writers_hold(file), WRITERS_SOME);
    close(writer);
    assert_int_equal(writers_hold(file), WRITERS_NONE);
    writers_release(file);
    close(file);
}

static void a_writable_mapping_is_seen(void **state)
{
    (void)state;
    need_leases();
    int writer = open_it(O_RDWR);
    void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0);
    assert_true(map != MAP_FAILED);
    close(writer);
    int file = open_it(O_RDONLY);
    assert_int_equal(writers_hold(file), WRITERS_SOME);
    munmap(map, 4096);
    assert_int_equal(writers_hold(file), WRITERS_NONE);
    close(file);
}

static void other_readers_do_not_count(void **state)
{
    (void)state;
    need_leases();
    int reader = open_it(O_RDONLY);
    int file = open_it(O_RDONLY);
    assert_int_equal(writers_hold(file), WRITERS_NONE);
    close(file);
    close(reader);
}

static int write_to_it(void *context)
{
    (void)context;
    int file = openat(scratch.directory, "file", O_WRONLY | O_CLOEXEC);
    return file < 0;
}

static void who_begins_to_write_waits_and_we_survive_it(void **state)
{
    (void)state;
    need_leases();
    int file = open_it(O_RDONLY);
    assert_int_equal(writers_hold(file), WRITERS_NONE);
    pid_t child = in_child(write_to_it, NULL);
    /* F_GETLEASE tells of the lease that is to be given back once the child has knocked. */
    int64_t limit = clock_elapsed() + PATIENCE;
    while (fcntl(file, F_GETLEASE) == F_RDLCK && clock_elapsed() < limit)
        nap(1);
    assert_int_equal(fcntl(file, F_GETLEASE), F_UNLCK);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    writers_release(file);
    join_child(child);
    close(file);
}

static int fail_with_eagain(int file, int type)
{
    (void)file;
    (void)type;
    errno = EAGAIN;
    return -1;
}

static int pretend_nfs(int file, struct statfs *status)
{
    (void)file;
    memset(status, 0, sizeof(*status));
    status->f_type = 0x6969;
    return 0;
}

static void leases_prove_nothing_on_nfs(void **state)
{
    (void)state;
    int file = open_it(O_RDONLY);
    sys.fstatfs = pretend_nfs;
    assert_false(mount_is_local(file));
    assert_int_equal(writers_hold(file), WRITERS_UNKNOWN);
    sys.lease = fail_with_eagain;
    assert_int_equal(writers_hold(file), WRITERS_UNKNOWN);
    close(file);
}

static int ask_as_somebody_else(void *context)
{
    (void)context;
    int file = openat(scratch.directory, "file", O_RDONLY | O_CLOEXEC);
    if (setgid(54321) || setuid(54321))
        return 2;
    return writers_hold(file) != WRITERS_UNKNOWN;
}

static void somebody_elses_file_is_unknown(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can become somebody else\n");
        skip();
    }
    join_child(in_child(ask_as_somebody_else, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_open_writer_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_writable_mapping_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(other_readers_do_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(who_begins_to_write_waits_and_we_survive_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(leases_prove_nothing_on_nfs, setup, teardown),
        cmocka_unit_test_setup_teardown(somebody_elses_file_is_unknown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
