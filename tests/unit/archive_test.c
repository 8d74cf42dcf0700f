/* archives: written in frames, read from each, by tar too */
#include "archive/pack.h"
#include "archive/unpack.h"
#include "tests/unit/unit_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/system.h"

static char *path;
static int top;

static int open_top(void **state)
{
    path = unit_directory();
    top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return set_up(state);
}

static int close_top(void **state)
{
    close(top);
    unit_remove(path);
    return tear_down(state);
}

/* ---- packs ---- */

static int make_file(const char *name, const char *bytes, struct stat *status)
{
    int file = openat(top, name, O_RDWR | O_CREAT | O_TRUNC, 0640);
    assert_int_equal(write(file, bytes, strlen(bytes)), strlen(bytes));
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(fstat(file, status), 0);
    return file;
}

static void add(struct pack *pack, const char *name, const char *bytes)
{
    struct stat status;
    int file = make_file("source", bytes, &status);
    if (pack_add(pack, name, &status, file, &error))
        fail_msg("%s", error.text);
    close(file);
}

static struct pack *create(const char *name)
{
    const struct pack_readers readers = {.mode = 0640, .group = getegid()};
    struct pack *pack = pack_create(top, name, readers, true, &error);
    if (!pack)
        fail_msg("%s", error.text);
    return pack;
}

/* The bytes of the member that comes next. */
static struct text next(struct unpack *unpack, const char *name)
{
    struct unpack_member member;
    struct buffer bytes = {0};
    if (unpack_next(unpack, &member, &error) != 1)
        fail_msg("%s", error.text);
    assert_string_equal(member.path, name);
    int file = openat(top, "copy", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(unpack_copy(unpack, file, &error), 0);
    close(file);
    assert_int_equal(file_read_at(top, "copy", 1 << 20, &bytes, &error), 0);
    struct text text = arena_text(arena, bytes.length ? bytes.data : "", bytes.length);
    buffer_free(&bytes);
    return text;
}

static void frames_are_one_archive_and_each_is_one(void **state)
{
    struct unpack_member member;
    struct stat status;
    char command[4300];
    (void)state;
    struct pack *pack = create("a.tar.zst");
    int64_t first = pack_begin(pack, &error);
    add(pack, "one/log", "the first\n");
    assert_int_equal(pack_end(pack, &error), 0);
    int64_t second = pack_begin(pack, &error);
    add(pack, "two/log", "the second\n");
    add(pack, "two/empty", "");
    assert_true(pack_frame_bytes(pack) > 11);
    assert_true(pack_finish(pack, &error) > second);
    assert_int_equal(first, 0);
    assert_true(second > 0);
    assert_int_equal(fstatat(top, "a.tar.zst", &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    struct unpack *unpack = unpack_open(top, "a.tar.zst", second, &error);
    assert_non_null(unpack);
    assert_true(text_is(next(unpack, "two/log"), "the second\n"));
    assert_int_equal(next(unpack, "two/empty").length, 0);
    assert_int_equal(unpack_next(unpack, &member, &error), 0);
    unpack_close(unpack);
    unpack = unpack_open(top, "a.tar.zst", first, &error);
    assert_true(text_is(next(unpack, "one/log"), "the first\n"));
    assert_true(text_is(next(unpack, "two/log"), "the second\n"));
    unpack_close(unpack);
    /* For those who have nothing else. */
    snprintf(command, sizeof(command),
             "cd '%s' && zstd -qdc a.tar.zst | tar -tf - | tr '\\n' ' ' >names", path);
    if (system("command -v zstd tar >/dev/null") == 0) {
        struct buffer names = {0};
        assert_int_equal(system(command), 0);
        assert_int_equal(file_read_at(top, "names", 4096, &names, &error), 0);
        assert_string_equal(names.data, "one/log two/log two/empty ");
        buffer_free(&names);
    }
}

/* What is smaller by now than it was is filled up; what cannot be read is said, and the rest is written. */
static void sources_that_change_harm_no_other(void **state)
{
    struct stat status;
    (void)state;
    struct pack *pack = create("b.tar.zst");
    assert_int_equal(pack_begin(pack, &error), 0);
    int file = make_file("shorter", "1234567890", &status);
    assert_int_equal(ftruncate(file, 4), 0);
    assert_int_equal(pack_add(pack, "a/shorter", &status, file, &error), 0);
    close(file);
    assert_int_equal(pack_add(pack, "a/unreadable", &status, top, &error), 1);
    add(pack, "a/log", "whole\n");
    assert_true(pack_finish(pack, &error) > 0);
    struct unpack *unpack = unpack_open(top, "b.tar.zst", 0, &error);
    struct text shorter = next(unpack, "a/shorter");
    assert_int_equal(shorter.length, 10);
    assert_memory_equal(shorter.data, "1234\0\0\0\0\0\0", 10);
    next(unpack, "a/unreadable");
    assert_true(text_is(next(unpack, "a/log"), "whole\n"));
    unpack_close(unpack);
}

static void what_is_no_archive_is_said(void **state)
{
    struct unpack_member member;
    struct stat status;
    (void)state;
    close(make_file("c.tar.zst", "not an archive", &status));
    struct unpack *unpack = unpack_open(top, "c.tar.zst", 0, &error);
    if (unpack)
        assert_int_equal(unpack_next(unpack, &member, &error), -1);
    assert_non_null(strstr(error.text, "c.tar.zst"));
    unpack_close(unpack);
    assert_null(unpack_open(top, "none.tar.zst", 0, &error));
    assert_int_equal(errno, ENOENT);
}

static ssize_t full_write(int file, const void *bytes, size_t length)
{
    (void)file, (void)bytes, (void)length;
    errno = ENOSPC;
    return -1;
}

static void a_full_disk_is_said(void **state)
{
    struct system_calls real = sys;
    (void)state;
    struct pack *pack = create("d.tar.zst");
    assert_int_equal(pack_begin(pack, &error), 0);
    sys.write = full_write;
    int64_t size = pack_finish(pack, &error);
    sys = real;
    assert_int_equal(size, -1);
    assert_non_null(strstr(error.text, "No space left"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_top, close_top)
    const struct CMUnitTest tests[] = {
        TEST(frames_are_one_archive_and_each_is_one),
        TEST(sources_that_change_harm_no_other),
        TEST(what_is_no_archive_is_said),
        TEST(a_full_disk_is_said),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
