/* lines for a job's log that are written together, or kept until they can be */
#include "stages/track/inside.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

static char *path;
static struct tracked tracked;

static int set_up(void **state)
{
    (void)state;
    path = unit_directory();
    tracked = (struct tracked){.attempt = 1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(tracked.unwritten);
    unit_remove(path);
    return 0;
}

/* A round in which the job's directory is open as `job`, and there is that to say. */
static int round_with(int job, const char *line)
{
    struct followed followed = {.tracked = &tracked, .job = job, .log.file = -1};
    lines_begin(&followed);
    buffer_add_string(&followed.lines, line);
    int result = lines_write(&followed, NULL);
    lines_keep(&followed);
    return result;
}

static void what_cannot_be_written_comes_first_in_the_next_round(void **state)
{
    (void)state;
    struct buffer log = {0};
    assert_int_equal(round_with(-1, "one\n"), -1);
    assert_int_equal(round_with(-1, "two\n"), -1);
    assert_string_equal(tracked.unwritten, "one\ntwo\n");
    int job = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(round_with(job, "three\n"), 0);
    assert_null(tracked.unwritten);
    assert_int_equal(round_with(job, ""), 0);
    assert_int_equal(eventlog_read(job, &log, NULL), 0);
    assert_string_equal(log.data, "one\ntwo\nthree\n");
    buffer_free(&log);
    close(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_cannot_be_written_comes_first_in_the_next_round,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
