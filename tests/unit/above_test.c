/* tests/unit/above_test.c - who could exchange a directory is found on any level above it
 *
 * Seen to fail with: tests/mutants/above-*.patch.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/above.h"

static char *path;
static const uid_t stranger = 65533, user = 65532;

/* What above_check() says of PATH/one/two/three after the command, and that all is well after its undoing. */
static const char *said(const char *command, const char *undo)
{
    static struct error error;
    struct error fine;
    char with[1200];
    error = (struct error){""};
    snprintf(with, sizeof(with), "cd '%s' && %s", path, command);
    assert_int_equal(system(with), 0);
    snprintf(with, sizeof(with), "%s/one/two/three", path);
    int directory = open(with, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = above_check(directory, "the spool", &user, 1, &error);
    assert_int_equal(result, error.text[0] ? -1 : 0);
    snprintf(with, sizeof(with), "cd '%s' && %s", path, undo);
    assert_int_equal(system(with), 0);
    assert_int_equal(above_check(directory, "the spool", &user, 1, &fine), 0);
    close(directory);
    return error.text;
}

static int open_new(void **state)
{
    char with[600];
    (void)state;
    path = unit_directory();
    snprintf(with, sizeof(with), "mkdir -p '%s/one/two/three'", path);
    return system(with);
}

static int close_all(void **state)
{
    (void)state;
    unit_remove(path);
    return 0;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("found '%s', expected '%s' in it", text, part);
}

static void owners_are_looked_at(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    expect(said("chown 65533 one", "chown 0 one"), "/one, above the spool, belongs to user 65533");
    expect(said("chown 65533 one/two", "chown 0 one/two"), "/one/two, above the spool, belongs");
    assert_string_equal(said("chown 65532 one/two", "chown 0 one/two"), "");
    assert_string_equal(said("chown 65533 one/two/three", "chown 0 one/two/three"), "");
}

static void modes_are_looked_at(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    expect(said("chmod o+w one", "chmod o-w one"), "/one, above the spool, may be written to");
    expect(said("chmod g+w one && chgrp 65533 one", "chgrp 0 one && chmod g-w one"), "chmod go-w");
    assert_string_equal(said("chmod g+w one", "chmod g-w one"), "");
    /* In a sticky directory who owns an entry may rename it. */
    assert_string_equal(said("chmod 1777 one", "chmod 755 one"), "");
    expect(said("chmod 1777 one/two && chown 65533 one/two/three",
                "chmod 755 one/two && chown 0 one/two/three"),
           "/one/two, above the spool, may be written to");
}

/* A directory that is mounted in itself has the numbers of the one above it, and is not the top: what is above both is
 * looked at, too. */
static void mounts_are_passed(void **state)
{
    struct error error = {""};
    char inner[600];
    int status;
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(path, stranger, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        snprintf(inner, sizeof(inner), "%s/one/two", path);
        if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
            _exit(2);
        if (chdir(path) || mount("one", "one/two", NULL, MS_BIND, NULL))
            _exit(2);
        int directory = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _exit(above_check(directory, "it", NULL, 0, &error) == -1 && strstr(error.text, "65533")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chown(path, 0, 0), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip(); /* no mounts may be made here */
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_are_looked_at),
        cmocka_unit_test(modes_are_looked_at),
        cmocka_unit_test(mounts_are_passed),
    };
    return cmocka_run_group_tests(tests, open_new, close_all);
}
