/* tests/unit/watcher_moves_test.c - the names that leave a few directories, or that come into them
 *
 * Seen to fail with: tests/mutants/moves-*.patch.
 */
#include "watcher/moves.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

enum { DIRECTORIES = 2 };

static char *path, heard[4096];
static int root, directories[DIRECTORIES];
static struct moves *moves;

static void note(void *context, struct text name)
{
    size_t length = strlen(heard);
    (void)context;
    snprintf(heard + length, sizeof(heard) - length, "%s%.*s", length ? " " : "", (int)name.length,
             name.data);
}

static const char *hear(void)
{
    heard[0] = '\0';
    assert_true(moves_collect(moves, note, NULL));
    return heard;
}

static void make_directory(const char *name)
{
    assert_int_equal(mkdirat(root, name, 0755), 0);
}

static void each_that_leaves_is_told(void **state)
{
    (void)state;
    make_directory("a/before");
    assert_int_equal(unlinkat(root, "a/before", AT_REMOVEDIR), 0);
    moves = moves_open(MOVES_OUT, directories, DIRECTORIES);
    assert_non_null(moves);
    assert_string_equal(hear(), "");
    make_directory("a/one");
    make_directory("b/two");
    make_directory("c/three");
    assert_string_equal(hear(), "");
    assert_int_equal(renameat(root, "a/one", root, "c/one"), 0);
    assert_int_equal(unlinkat(root, "b/two", AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(root, "c/three", AT_REMOVEDIR), 0);
    assert_string_equal(hear(), "one two");
    assert_int_equal(renameat(root, "c/one", root, "b/one"), 0);
    assert_string_equal(hear(), "");
    moves_close(moves);
}

static void each_that_comes_is_told(void **state)
{
    (void)state;
    make_directory("c/one");
    make_directory("b/before");
    moves = moves_open(MOVES_IN, directories, 1);
    make_directory("a/two");
    assert_int_equal(renameat(root, "c/one", root, "a/one"), 0);
    assert_string_equal(hear(), "two one");
    assert_int_equal(renameat(root, "a/one", root, "b/one"), 0);
    assert_int_equal(unlinkat(root, "a/two", AT_REMOVEDIR), 0);
    assert_string_equal(hear(), "");
    moves_close(moves);
}

static void drop(void *context, struct text name)
{
    (void)context;
    (void)name;
}

/* More than the kernel keeps. */
static void what_is_lost_is_said(void **state)
{
    struct buffer most = {0};
    (void)state;
    int kernel = open("/proc/sys/fs/inotify", O_RDONLY | O_DIRECTORY);
    if (kernel < 0 || file_read_at(kernel, "max_queued_events", 64, &most, NULL))
        skip();
    close(kernel);
    int events = atoi(most.data);
    buffer_free(&most);
    if (events > 100000)
        skip();
    moves = moves_open(MOVES_OUT, directories, DIRECTORIES);
    make_directory("a/x");
    for (int i = 0; i < events + 1; i++) /* two alike that follow each other are told once */
        assert_int_equal(renameat(root, i % 2 ? "b/x" : "a/x", root, i % 2 ? "a/x" : "b/x"), 0);
    assert_false(moves_collect(moves, drop, NULL));
    assert_string_equal(hear(), "");
    moves_close(moves);
}

static void a_directory_that_goes_is_noticed(void **state)
{
    (void)state;
    moves = moves_open(MOVES_OUT, directories, DIRECTORIES);
    close(directories[1]);
    directories[1] = -1;
    assert_int_equal(unlinkat(root, "b", AT_REMOVEDIR), 0);
    assert_false(moves_collect(moves, drop, NULL));
    assert_false(moves_collect(moves, drop, NULL));
    moves_close(moves);
    moves_close(NULL);
}

static int open_all(void **state)
{
    (void)state;
    path = unit_directory();
    root = open(path, O_RDONLY | O_DIRECTORY);
    make_directory("a");
    make_directory("b");
    make_directory("c");
    directories[0] = openat(root, "a", O_RDONLY | O_DIRECTORY);
    directories[1] = openat(root, "b", O_RDONLY | O_DIRECTORY);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    close(directories[0]);
    close(directories[1]);
    close(root);
    unit_remove(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_that_leaves_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(each_that_comes_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_is_lost_is_said, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_directory_that_goes_is_noticed, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
