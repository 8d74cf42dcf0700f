/* warnings are bounded: the same once, a few of a kind, and different ones while tokens last
 *
 * Seen to fail with, in base/log.c: is_repeated(), is_common() or take_token() left out of
 * log_warn(); words with digits hashed as they are; say_left_out() left out of log_say().
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

enum { ROOM = 16384 };
static char said[ROOM];

/* What `speak` puts on standard error. */
static void listen_to(void (*speak)(void))
{
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    speak();
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    ssize_t length = read(ends[0], said, ROOM - 1);
    said[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(before);
}

static int lines(void)
{
    int count = 0;
    for (const char *at = said; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

static void repeat_one(void)
{
    for (int i = 0; i < 100; i++)
        log_warn("the disk is full");
}

static void fail_many_jobs(void)
{
    for (int i = 0; i < 100; i++)
        log_warn("the job job%d-1m7yfm6sj9x%d could not be made: No space left", i, i);
}

static void go_on(void)
{
    log_say("there is space again");
}

static void say_different_things(void)
{
    char word[] = "aa";
    for (int i = 0; i < 100; i++) {
        word[0] = (char)('a' + i % 26);
        word[1] = (char)('a' + i / 26);
        log_warn("trouble with %s", word);
    }
}

static void warnings_are_bounded(void **state)
{
    (void)state;
    listen_to(repeat_one);
    assert_string_equal(said, "dlspool: warning: the disk is full\n");
    listen_to(fail_many_jobs);
    assert_int_equal(lines(), 4);
    assert_non_null(strstr(said, "99 warnings were left out before this\n"));
    assert_non_null(strstr(said, "job2-"));
    listen_to(fail_many_jobs);
    assert_string_equal(said, "");
    listen_to(go_on);
    assert_string_equal(said, "dlspool: warning: 197 warnings were left out before this\n"
                              "dlspool: there is space again\n");
    /* What was said before is news again. */
    listen_to(repeat_one);
    assert_int_equal(lines(), 1);
    listen_to(say_different_things);
    assert_int_equal(lines(), 30 - 5 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(warnings_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
