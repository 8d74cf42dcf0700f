/* tests/unit/system_test.c - the table of system calls and the helpers over it */
#include "base/directory.h"
#include "base/file.h"
#include "tests/unit/watcher_support.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/mount.h>

static struct scratch scratch;
static struct system_calls real;
static struct error error;

static int setup(void **state)
{
    (void)state;
    real = sys;
    error.text[0] = '\0';
    scratch_open(&scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sys = real;
    scratch_close(&scratch);
    return 0;
}

static int open_errno(const char *name)
{
    int file = sys.open_beneath(scratch.directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return errno;
    sys.close(file);
    return 0;
}

static void nothing_leads_out_of_the_directory(void **state)
{
    (void)state;
    put(scratch.directory, "file", "x");
    assert_int_equal(mkdirat(scratch.directory, "sub", 0755), 0);
    put(scratch.directory, "sub/inner", "x");
    assert_int_equal(symlinkat("file", scratch.directory, "link"), 0);
    assert_int_equal(symlinkat("sub", scratch.directory, "way"), 0);
    assert_int_equal(symlinkat("/etc/passwd", scratch.directory, "out"), 0);
    assert_int_equal(open_errno("file"), 0);
    assert_int_equal(open_errno("sub/inner"), 0);
    assert_int_equal(open_errno("link"), ELOOP);
    assert_int_equal(open_errno("way/inner"), ELOOP);
    assert_int_equal(open_errno("out"), ELOOP);
    assert_int_equal(open_errno(".."), EXDEV);
    assert_int_equal(open_errno("../x"), EXDEV);
    assert_int_equal(open_errno("/etc/passwd"), EXDEV);
    assert_int_equal(open_errno("absent"), ENOENT);
}

static int open_through_a_mount(void *context)
{
    (void)context;
    char buffer[512];
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return 77;
    if (mount("none", scratch_path(&scratch, "sub", buffer), "tmpfs", 0, NULL))
        return 77;
    /* The descriptor from before belongs to the mounts that were left behind. */
    scratch.directory = open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return open_errno("sub") != EXDEV;
}

static void nothing_leads_into_another_mount(void **state)
{
    (void)state;
    int status;
    assert_int_equal(mkdirat(scratch.directory, "sub", 0755), 0);
    pid_t child = in_child(open_through_a_mount, NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: this process may not mount\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* In a child, because the filter stays. */
static int open_without_openat2(void *context)
{
    (void)context;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) ||
        seccomp_load(filter))
        return 2;
    if (open_errno("file") != 0)
        return 3;
    if (open_errno("link") != ELOOP)
        return 4;
    if (open_errno("..") != EXDEV || open_errno("sub/inner") != EXDEV)
        return 5;
    return 0;
}

static void an_old_kernel_opens_single_names_safely(void **state)
{
    (void)state;
    put(scratch.directory, "file", "x");
    assert_int_equal(symlinkat("file", scratch.directory, "link"), 0);
    join_child(in_child(open_without_openat2, NULL));
}

static void reading_is_bounded(void **state)
{
    (void)state;
    struct buffer bytes = {NULL, 0, 0};
    put(scratch.directory, "ten", "0123456789");
    buffer_add_string(&bytes, "before ");
    assert_int_equal(file_read_at(scratch.directory, "ten", 10, &bytes, &error), 0);
    assert_string_equal(bytes.data, "before 0123456789");
    assert_int_equal(bytes.length, 17);
    buffer_clear(&bytes);
    assert_int_equal(file_read_at(scratch.directory, "ten", 9, &bytes, &error), -1);
    assert_string_equal(error.text, "ten is larger than 9 bytes");
    buffer_clear(&bytes);
    put(scratch.directory, "none", "");
    assert_int_equal(file_read_at(scratch.directory, "none", 0, &bytes, &error), 0);
    assert_int_equal(bytes.length, 0);
    buffer_free(&bytes);
}

static int reads;
static const char *grows; /* the file that gets more while it is read */

static ssize_t counted_read(int file, void *bytes, size_t length)
{
    if (reads++ == 0 && grows) {
        int writer = openat(scratch.directory, grows, O_WRONLY | O_APPEND | O_CLOEXEC);
        assert_int_equal(write(writer, "and more", 8), 8);
        close(writer);
    }
    return real.read(file, bytes, length);
}

/* A file whose size is known takes one read; the sizes of /proc are 0, and of /sys they are wrong. */
static void the_end_of_a_file_is_known(void **state)
{
    (void)state;
    struct buffer bytes = {NULL, 0, 0};
    put(scratch.directory, "ten", "0123456789");
    sys.read = counted_read;
    reads = 0;
    assert_int_equal(file_read_at(scratch.directory, "ten", 100, &bytes, &error), 0);
    assert_int_equal(reads, 1);
    assert_int_equal(bytes.length, 10);
    buffer_clear(&bytes);
    grows = "ten";
    reads = 0;
    assert_int_equal(file_read_at(scratch.directory, "ten", 100, &bytes, &error), 0);
    assert_string_equal(bytes.data, "0123456789and more");
    grows = NULL;
    reads = 0;
    assert_int_equal(file_read_at(-1, "/proc/self/status", 65536, &bytes, &error), 0);
    assert_true(reads > 1);
    assert_non_null(strstr(bytes.data, "nonvoluntary_ctxt_switches"));
    buffer_free(&bytes);
}

static int looks;

static int counted_fstat(int file, struct stat *status)
{
    looks++;
    return real.fstat(file, status);
}

static bool ends_in_a_dot(void *context, struct text bytes)
{
    ++*(int *)context;
    return bytes.data[bytes.length - 1] == '.';
}

/* What shows itself that it is whole is read at once; anything else as any file is. */
static void sound_files_are_read_at_once(void **state)
{
    (void)state;
    struct buffer bytes = {NULL, 0, 0};
    int asked = 0;
    put(scratch.directory, "sound", "all of it.");
    put(scratch.directory, "other", "not all of it");
    assert_int_equal(mkfifoat(scratch.directory, "fifo", 0644), 0);
    assert_int_equal(mkdirat(scratch.directory, "dir", 0755), 0);
    sys.fstat = counted_fstat;
    buffer_add_string(&bytes, "before ");
    looks = 0;
    assert_int_equal(
        file_read_sound_at(scratch.directory, "sound", 100, &bytes, ends_in_a_dot, &asked, &error),
        0);
    assert_int_equal(looks, 0);
    assert_int_equal(asked, 1);
    assert_string_equal(bytes.data, "before all of it.");
    buffer_clear(&bytes);
    assert_int_equal(
        file_read_sound_at(scratch.directory, "other", 100, &bytes, ends_in_a_dot, &asked, &error),
        0);
    assert_int_equal(looks, 1);
    assert_string_equal(bytes.data, "not all of it");
    buffer_clear(&bytes);
    assert_int_equal(
        file_read_sound_at(scratch.directory, "sound", 9, &bytes, ends_in_a_dot, &asked, &error),
        -1);
    assert_string_equal(error.text, "sound is larger than 9 bytes");
    buffer_clear(&bytes);
    struct buffer large = {NULL, 0, 0};
    for (int i = 0; i < 20000; i++)
        buffer_add_byte(&large, '.');
    put(scratch.directory, "large", large.data);
    assert_int_equal(file_read_sound_at(scratch.directory, "large", 30000, &bytes, ends_in_a_dot,
                                        &asked, &error),
                     0);
    assert_int_equal(bytes.length, 20000);
    buffer_free(&large);
    const char *const others[] = {"fifo", "dir"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(file_read_sound_at(scratch.directory, others[i], 9, &bytes, ends_in_a_dot,
                                            &asked, &error),
                         -1);
        assert_int_equal(errno, EBADMSG);
    }
    buffer_free(&bytes);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    struct buffer bytes = {NULL, 0, 0};
    assert_int_equal(mkfifoat(scratch.directory, "fifo", 0644), 0);
    assert_int_equal(mkdirat(scratch.directory, "dir", 0755), 0);
    assert_int_equal(symlinkat("fifo", scratch.directory, "link"), 0);
    assert_int_equal(file_read_at(scratch.directory, "fifo", 9, &bytes, &error), -1);
    assert_string_equal(error.text, "fifo is not a regular file");
    assert_int_equal(file_read_at(scratch.directory, "dir", 9, &bytes, &error), -1);
    assert_string_equal(error.text, "dir is not a regular file");
    assert_int_equal(file_read_at(scratch.directory, "link", 9, &bytes, &error), -1);
    assert_string_equal(error.text, "link could not be opened: Too many levels of symbolic links");
    assert_int_equal(file_read_at(scratch.directory, "absent", 9, &bytes, &error), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(error.text, "absent could not be opened: No such file or directory");
    buffer_free(&bytes);
}

static int calls;

static ssize_t hesitant_write(int file, const void *bytes, size_t length)
{
    if (calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return real.write(file, bytes, length > 3 ? 3 : length);
}

static ssize_t hesitant_read(int file, void *bytes, size_t length)
{
    if (calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return real.read(file, bytes, length > 3 ? 3 : length);
}

static ssize_t full_write(int file, const void *bytes, size_t length)
{
    (void)file;
    (void)bytes;
    (void)length;
    errno = ENOSPC;
    return -1;
}

static ssize_t idle_write(int file, const void *bytes, size_t length)
{
    (void)file;
    (void)bytes;
    (void)length;
    return 0;
}

static void interruptions_and_short_counts_are_gone_over(void **state)
{
    (void)state;
    struct buffer bytes = {NULL, 0, 0};
    int file = openat(scratch.directory, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    sys.write = hesitant_write;
    sys.read = hesitant_read;
    assert_int_equal(file_write_all(file, TEXT("0123456789"), "file", &error), 0);
    assert_int_equal(file_write_all(file, TEXT(""), "file", &error), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(file_read_all(file, 10, &bytes, "file", &error), 0);
    assert_string_equal(bytes.data, "0123456789");
    buffer_clear(&bytes);
    assert_int_equal(file_read_at(scratch.directory, "file", 10, &bytes, &error), 0);
    assert_string_equal(bytes.data, "0123456789");
    buffer_free(&bytes);
    sys.write = full_write;
    assert_int_equal(file_write_all(file, TEXT("x"), "file", &error), -1);
    assert_string_equal(error.text, "file could not be written: No space left on device");
    sys.write = idle_write;
    assert_int_equal(file_write_all(file, TEXT("x"), "file", &error), -1);
    assert_string_equal(error.text, "file could not be written: the system took no bytes");
    close(file);
}

static int count_name(void *context, const char *name, unsigned char type)
{
    (void)type;
    assert_true(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
    return ++*(int *)context == 100 ? 42 : 0;
}

static int mark_name(void *context, const char *name, unsigned char type)
{
    (void)type;
    unsigned char *seen = context;
    seen[atoi(name)]++;
    return 0;
}

static ssize_t failing_getdents(int directory, void *entries, size_t length)
{
    (void)directory;
    (void)entries;
    (void)length;
    errno = EIO;
    return -1;
}

static void a_walk_sees_every_name_once(void **state)
{
    (void)state;
    enum { MANY = 5000 }; /* more than one buffer of entries */
    unsigned char seen[MANY] = {0};
    char name[32];
    int count = 0;
    assert_int_equal(directory_walk(scratch.directory, count_name, &count), 0);
    assert_int_equal(count, 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(mknodat(scratch.directory, name, S_IFREG | 0644, 0), 0);
    }
    for (int round = 1; round <= 2; round++) {
        assert_int_equal(directory_walk(scratch.directory, mark_name, seen), 0);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(seen[i], round);
    }
    assert_int_equal(directory_walk(scratch.directory, count_name, &count), 42);
    assert_int_equal(count, 100);
    sys.getdents = failing_getdents;
    assert_int_equal(directory_walk(scratch.directory, count_name, &count), -1);
    assert_int_equal(errno, EIO);
}

static void a_lock_belongs_to_one_opening(void **state)
{
    (void)state;
    put(scratch.directory, "lock", "");
    int first = openat(scratch.directory, "lock", O_RDWR | O_CLOEXEC);
    int second = openat(scratch.directory, "lock", O_RDWR | O_CLOEXEC);
    assert_int_equal(sys.lock(first, F_WRLCK), 0);
    assert_int_equal(sys.lock(second, F_WRLCK), -1);
    assert_true(errno == EAGAIN || errno == EACCES);
    /* Closing another opening of the file must not give up the lock, as POSIX locks would. */
    close(second);
    second = openat(scratch.directory, "lock", O_RDWR | O_CLOEXEC);
    assert_int_equal(sys.lock(second, F_WRLCK), -1);
    close(first);
    assert_int_equal(sys.lock(second, F_WRLCK), 0);
    close(second);
}

#define SYSTEM_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SYSTEM_TEST(nothing_leads_out_of_the_directory),
        SYSTEM_TEST(nothing_leads_into_another_mount),
        SYSTEM_TEST(an_old_kernel_opens_single_names_safely),
        SYSTEM_TEST(reading_is_bounded),
        SYSTEM_TEST(the_end_of_a_file_is_known),
        SYSTEM_TEST(sound_files_are_read_at_once),
        SYSTEM_TEST(only_regular_files_are_read),
        SYSTEM_TEST(interruptions_and_short_counts_are_gone_over),
        SYSTEM_TEST(a_walk_sees_every_name_once),
        SYSTEM_TEST(a_lock_belongs_to_one_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
