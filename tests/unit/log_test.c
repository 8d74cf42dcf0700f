/* warnings are bounded: the same once, a few of a kind, and different ones while tokens last */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static int64_t elapsed = 1000;

static int64_t source_now(void)
{
    return 1700000000000;
}

static int64_t source_elapsed(void)
{
    return elapsed;
}

enum { ROOM = 16384 };
static char said[ROOM];

/* What `speak` writes to that descriptor. */
static void listen_at(int descriptor, void (*speak)(void))
{
    int ends[2], before = dup(descriptor);
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(dup2(ends[1], descriptor), descriptor);
    speak();
    assert_int_equal(dup2(before, descriptor), descriptor);
    ssize_t length = read(ends[0], said, ROOM - 1);
    said[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(before);
}

static void listen_to(void (*speak)(void))
{
    listen_at(STDERR_FILENO, speak);
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
    clock_replace(source_now, source_elapsed);
    listen_to(repeat_one);
    assert_string_equal(said, "dlspool: warning: the disk is full\n");
    listen_to(fail_many_jobs);
    assert_int_equal(lines(), 4);
    assert_non_null(strstr(said, "99 warnings were left out before this\n"));
    assert_non_null(strstr(said, "job2-"));
    listen_to(fail_many_jobs);
    assert_string_equal(said, "");
    /* That some were left out is said once in a minute. */
    listen_to(go_on);
    assert_string_equal(said, "dlspool: there is space again\n");
    elapsed += 60000;
    listen_to(go_on);
    assert_string_equal(said, "dlspool: warning: 197 warnings were left out before this\n"
                              "dlspool: there is space again\n");
    /* What was said before is news again. */
    listen_to(repeat_one);
    assert_int_equal(lines(), 1);
    listen_to(say_different_things);
    assert_int_equal(lines(), 30 - 1);
    clock_replace(NULL, NULL);
}

static void tell_a_name(void)
{
    log_detail("the file \"x\" is taken");
}

static void objects_are_on_standard_output(void **state)
{
    (void)state;
    log_name("track");
    log_json(true);
    log_verbose(true);
    listen_at(STDOUT_FILENO, tell_a_name);
    log_json(false);
    log_verbose(false);
    log_name(NULL);
    assert_int_equal(lines(), 1);
    assert_non_null(strstr(said, "{\"time\":\"2"));
    assert_non_null(strstr(said, "\"level\":\"debug\",\"stage\":\"track\","
                                 "\"message\":\"the file \\\"x\\\" is taken\"}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(warnings_are_bounded),
                                       cmocka_unit_test(objects_are_on_standard_output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
