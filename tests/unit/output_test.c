/* what the task which decided a failure has printed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/shared/output.h"

static char directory[] = "/tmp/dlspool-unit.XXXXXX";
static int job = -1;

static void print(const char *name, const char *bytes)
{
    int file = openat(job, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    close(file);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    job = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return job < 0 ? -1 : mkdirat(job, "output", 0755);
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"output/w-0.log", "output/w-1.log", "output/w-1.log.1"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        unlinkat(job, names[i], 0);
    unlinkat(job, "output", AT_REMOVEDIR);
    close(job);
    return rmdir(directory);
}

static void is_said_by(const char *task, const char *bytes, size_t limit)
{
    struct arena *arena = arena_new();
    struct task_state tasks[] = {{.role = "w", .index = 0, .ended = true, .exit_code = 195},
                                 {.role = "w", .index = 1, .ended = true, .exit_code = 195},
                                 {.role = "w", .index = 2, .ended = true, .exit_code = 1}};
    struct job_poll poll = {.exit_code = 195, .tasks = tasks, .task_count = 3};
    struct output_end end = output_of_failure(arena, job, &poll, limit);
    assert_string_equal(end.task, task);
    assert_int_equal(end.bytes.length, strlen(bytes));
    assert_memory_equal(end.bytes.data, bytes, strlen(bytes));
    arena_free(arena);
}

static void of_several_one_that_printed_is_quoted(void **state)
{
    (void)state;
    is_said_by("w-0", "", 100);
    print("output/w-1.log", "no such file\n");
    is_said_by("w-1", "no such file\n", 100);
    print("output/w-0.log", "first\n");
    is_said_by("w-0", "first\n", 100);
    is_said_by("w-0", "st\n", 3);
}

static void what_a_log_had_before_it_was_begun_again_counts(void **state)
{
    (void)state;
    print("output/w-0.log", "");
    print("output/w-1.log", "b\n");
    print("output/w-1.log.1", "a\n");
    is_said_by("w-1", "a\nb\n", 100);
    is_said_by("w-1", "\nb\n", 3);
}

/* Only root may give it; others have the groups that they have. */
static void output_is_of_the_owners_group(void **state)
{
    (void)state;
    enum { GROUP = 12345 };
    struct error error;
    struct stat status;
    int output = output_open(job, GROUP, &error);
    assert_true(output >= 0);
    assert_int_equal(fstat(output, &status), 0);
    assert_int_equal(status.st_gid, geteuid() == 0 ? GROUP : getegid());
    close(output);
    output = output_open(job, (gid_t)-1, &error);
    assert_true(output >= 0);
    close(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_of_the_owners_group),
        cmocka_unit_test(of_several_one_that_printed_is_quoted),
        cmocka_unit_test(what_a_log_had_before_it_was_begun_again_counts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
