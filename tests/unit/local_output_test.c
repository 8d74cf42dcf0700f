/* tests/unit/local_output_test.c - what tasks print is copied exactly once, whatever happens
 *
 * podman takes no part: the tests write the files that conmon would write.
 */
#include "tests/unit/local_fixture.h"

#include "base/clock.h"

/* Append a line as conmon writes it. */
static void print_bytes(const struct fixture *f, const char *task, char tag, const char *bytes,
                        size_t length)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/.podman/jobs/job-1-a1/logs/%s", f->directory, task);
    FILE *file = fopen(path, "ae");
    assert_non_null(file);
    fprintf(file, "2026-11-21T03:39:34.125781578+00:00 stdout %c ", tag);
    fwrite(bytes, 1, length, file);
    fputc('\n', file);
    fclose(file);
}

static void print(const struct fixture *f, const char *task, char tag, const char *words)
{
    print_bytes(f, task, tag, words, strlen(words));
}

static void setup(struct fixture *f, const char *settings)
{
    fixture_setup(f, settings);
    assert_int_equal(fixture_shell(f, "mkdir -p $D/.podman/jobs/job-1-a1/logs"), 0);
}

static const char *output(struct fixture *f)
{
    return fixture_output(f, "job-1", "main-0.log");
}

static void lines_are_put_together_and_nothing_else_is_changed(void **state)
{
    struct fixture *f = *state;
    setup(f, "");
    print(f, "main-0", 'F', "one");
    print(f, "main-0", 'P', "two, ");
    print(f, "main-0", 'P', "still two, ");
    print(f, "main-0", 'F', "");
    print(f, "main-0", 'F', "");
    print(f, "main-0", 'F', "  2026 stdout F x \r");
    print_bytes(f, "main-0", 'F', "\0\377", 2);
    print(f, "main-0", 'P', "no end");
    static const char expected[] = "one\ntwo, still two, \n\n  2026 stdout F x \r\n\0\377\nno end";
    assert_memory_equal(output(f), expected, sizeof(expected));
    struct stat status;
    assert_int_equal(fstatat(f->output, "main-0.log", &status, 0), 0);
    assert_int_equal(status.st_size, sizeof(expected) - 1);
    assert_int_equal(status.st_mode & 07777, 0640);
}

static void files_have_the_group_of_their_directory(void **state)
{
    struct fixture *f = *state;
    if (geteuid() != 0)
        skip();
    enum { GROUP = 54321 };
    setup(f, "");
    /* One of an older version, too. */
    assert_int_equal(fixture_shell(f, "echo early > $D/output/old-0.log; chmod 644 $D/output/*; "
                                      "chgrp 54321 $D/output"),
                     0);
    print(f, "main-0", 'F', "one");
    print(f, "old-0", 'F', "early");
    print(f, "old-0", 'F', "late");
    assert_string_equal(output(f), "one\n");
    assert_string_equal(fixture_output(f, "job-1", "old-0.log"), "early\nlate\n");
    for (int i = 0; i < 2; i++) {
        struct stat status;
        assert_int_equal(fstatat(f->output, i ? "old-0.log" : "main-0.log", &status, 0), 0);
        assert_int_equal(status.st_gid, GROUP);
        assert_int_equal(status.st_mode & 07777, 0640);
    }
}

static void a_line_that_is_not_whole_yet_waits(void **state)
{
    struct fixture *f = *state;
    setup(f, "");
    assert_int_equal(fixture_shell(f, "printf '2026-11-21T03:39:34.1+00:00 stdout F hal' > "
                                      "$D/.podman/jobs/job-1-a1/logs/main-0"),
                     0);
    assert_string_equal(output(f), "");
    assert_int_equal(fixture_shell(f, "printf 'f\\n' >> $D/.podman/jobs/job-1-a1/logs/main-0"), 0);
    assert_string_equal(output(f), "half\n");
}

/* Two hundred lines; dlspool is restarted after some, and its writes are undone at odd places, as
 * a full disk would. */
static void output_is_copied_once_across_restarts_and_short_writes(void **state)
{
    struct fixture *f = *state;
    setup(f, "");
    struct buffer expected = {0};
    for (int i = 0; i < 200; i++) {
        char line[64];
        int length = snprintf(line, sizeof(line), "line %d %.*s", i, i % 40,
                              "........................................");
        print(f, "main-0", i % 3 ? 'F' : 'P', line);
        buffer_add(&expected, line, (size_t)length);
        if (i % 3)
            buffer_add_byte(&expected, '\n');
        if (i % 5 == 0)
            fixture_reopen(f);
        assert_string_equal(output(f), expected.data);
        if (i % 7 == 0)
            assert_int_equal(fixture_shell(f, "truncate -s -3 $D/output/main-0.log"), 0);
        if (i == 100)
            assert_int_equal(fixture_shell(f, "rm $D/output/main-0.log"), 0);
        print(f, "main-0", 'F', "");
        buffer_add_byte(&expected, '\n');
    }
    assert_string_equal(output(f), expected.data);
    buffer_free(&expected);
}

static void output_longer_than_a_piece_is_copied_whole(void **state)
{
    struct fixture *f = *state;
    setup(f, "");
    enum { LINES = 2000, WIDTH = 8000 };
    char line[WIDTH + 1];
    memset(line, 'x', WIDTH);
    line[WIDTH] = '\0';
    for (int i = 0; i < LINES; i++)
        print(f, "main-0", 'F', line);
    print(f, "other-3", 'F', "beside");
    assert_int_equal(strlen(output(f)), LINES * (WIDTH + 1));
    assert_string_equal(fixture_output(f, "job-1", "other-3.log"), "beside\n");
}

static void output_is_cut_at_the_limit_and_says_so(void **state)
{
    struct fixture *f = *state;
    static const char cut[] =
        "0123456789\n01234567\n"
        "[dlspool: the output is longer than 19 bytes, and the rest of it was cut]\n";
    setup(f, "  log_limit: 19\n");
    print(f, "main-0", 'F', "0123456789");
    assert_string_equal(output(f), "0123456789\n");
    print(f, "main-0", 'P', "01234567");
    assert_string_equal(output(f), "0123456789\n01234567");
    print(f, "main-0", 'F', "89");
    assert_string_equal(output(f), cut);
    /* Whatever happens then, it stays so. */
    for (int i = 0; i < 6; i++) {
        print(f, "main-0", 'F', "more");
        assert_string_equal(output(f), cut);
        fixture_reopen(f);
        assert_string_equal(output(f), cut);
        if (i < 3)
            assert_int_equal(fixture_shell(f, "truncate -s -10 $D/output/main-0.log"), 0);
    }
    fixture_reopen(f);
    assert_int_equal(fixture_shell(f, "truncate -s 2M $D/.podman/jobs/job-1-a1/logs/main-0"), 0);
    assert_string_equal(output(f), cut);
    assert_int_equal(fixture_shell(f, "test ! -s $D/.podman/jobs/job-1-a1/logs/main-0"), 0);
}

static void a_link_in_place_of_the_target_is_not_followed(void **state)
{
    struct fixture *f = *state;
    struct error error = {""};
    setup(f, "");
    print(f, "main-0", 'F', "words");
    assert_int_equal(fixture_shell(f, "echo precious > $D/file; ln -s ../file "
                                      "$D/output/main-0.log"),
                     0);
    assert_int_equal(executor_output(f->executor, "job-1", 1, f->output, false, &error), -1);
    assert_non_null(strstr(error.text, "main-0.log"));
    assert_int_equal(fixture_shell(f, "rm $D/output/main-0.log; ln $D/file $D/output/main-0.log"),
                     0);
    assert_int_equal(executor_output(f->executor, "job-1", 1, f->output, false, &error), -1);
    assert_string_equal(error.text,
                        "main-0.log is not a file of its own, as one for output should be");
    assert_int_equal(fixture_shell(f, "test $(cat $D/file) = precious"), 0);
    assert_int_equal(executor_output(f->executor, "unknown", 1, f->output, false, &error), 0);
}

/* Of times beside the file, so that what was printed since then can be told: not more than is of use. */
static void times_are_noted(void **state)
{
    struct fixture *f = *state;
    long long offset, time;
    struct stat status;
    setup(f, "");
    print(f, "main-0", 'F', "one");
    assert_string_equal(output(f), "one\n");
    const char *times = fixture_output(f, "job-1", ".main-0.log.times");
    assert_int_equal(sscanf(times, "%lld %lld", &offset, &time), 2);
    assert_int_equal(offset, 0);
    assert_true(time <= clock_now() && time > clock_now() - 60000);
    assert_int_equal(fstatat(f->output, ".main-0.log.times", &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    print(f, "main-0", 'F', "two");
    output(f);
    off_t size = status.st_size;
    assert_int_equal(fstatat(f->output, ".main-0.log.times", &status, 0), 0);
    assert_int_equal(status.st_size, size);
    const struct timespec before[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    assert_int_equal(utimensat(f->output, ".main-0.log.times", before, 0), 0);
    print(f, "main-0", 'F', "three");
    times = fixture_output(f, "job-1", ".main-0.log.times");
    assert_int_equal(sscanf(strchr(times, '\n'), "%lld %lld", &offset, &time), 2);
    assert_int_equal(offset, strlen("one\ntwo\n"));
}

static void nothing_new_costs_next_to_nothing(void **state)
{
    struct fixture *f = *state;
    enum { CALLS = 2000 };
    setup(f, "");
    print(f, "main-0", 'F', "words");
    output(f);
    clock_t begin = clock();
    for (int i = 0; i < CALLS; i++)
        executor_output(f->executor, "job-1", 1, f->output, false, NULL);
    assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(lines_are_put_together_and_nothing_else_is_changed),
        FIXTURE_TEST(files_have_the_group_of_their_directory),
        FIXTURE_TEST(a_line_that_is_not_whole_yet_waits),
        FIXTURE_TEST(output_is_copied_once_across_restarts_and_short_writes),
        FIXTURE_TEST(output_longer_than_a_piece_is_copied_whole),
        FIXTURE_TEST(output_is_cut_at_the_limit_and_says_so),
        FIXTURE_TEST(a_link_in_place_of_the_target_is_not_followed),
        FIXTURE_TEST(times_are_noted),
        FIXTURE_TEST(nothing_new_costs_next_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
