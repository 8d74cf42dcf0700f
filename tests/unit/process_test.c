/* tests/unit/process_test.c - processes are told from one another */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executors/local/process.h"

enum { MOST_ROUNDS = 1000 }; /* of 5 ms */

static void end_group(pid_t process)
{
    kill(-process, SIGKILL);
    waitpid(process, NULL, 0);
}

/* A shell of a group of its own with `mark` among its arguments; the program that it has started has not.  What
 * a test that fails leaves behind holds none of its output open. */
static pid_t start_group(const char *mark)
{
    int ends[2];
    char started;
    assert_int_equal(pipe(ends), 0);
    pid_t process = fork();
    if (process == 0) {
        setsid();
        dup2(ends[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        close_range(3, ~0U, 0);
        execlp("sh", "sh", "-c", "sleep 600 >&2 & echo; exec >&2; wait", mark, NULL);
        _exit(127);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &started, 1), 1); /* its child is there */
    close(ends[0]);
    /* A child that is not sleep yet is a copy of the shell. */
    int round = 0;
    while (process_signal_group(process, mark, 0) != 1 && round++ < MOST_ROUNDS)
        process_pause(5);
    if (round > MOST_ROUNDS) {
        int count = process_signal_group(process, mark, 0);
        end_group(process);
        fail_msg("%d processes of the group have the argument", count);
    }
    return process;
}

static void only_those_of_the_group_with_the_argument_are_signalled(void **state)
{
    (void)state;
    pid_t one = start_group("unix:///one"), other = start_group("unix:///one");
    assert_int_equal(process_signal_group(one, "unix:///on", 0), 0);
    assert_int_equal(process_signal_group(one, "unix:///one", SIGTERM), 1);
    int status;
    assert_int_equal(waitpid(one, &status, 0), one);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(process_signal_group(one, "unix:///one", 0), 0);
    assert_int_equal(kill(-one, 0), 0); /* what it had started goes on */
    assert_int_equal(process_signal_group(other, "unix:///one", 0), 1);
    kill(-one, SIGKILL);
    end_group(other);
}

/* What has ended and was not waited for is none. */
static void what_remains_of_a_process_is_none(void **state)
{
    (void)state;
    pid_t process = start_group("unix:///gone");
    assert_true(process_start_time(process) > 0);
    kill(process, SIGKILL);
    while (process_start_time(process) > 0)
        process_pause(5);
    assert_int_equal(process_signal_group(process, "unix:///gone", 0), 0);
    end_group(process);
}

/* Take its arguments from this process, as the kernel does with one that ends: all of the stack from there on, as
 * what is left above would grow into the gap.  It must not return. */
static bool drop_arguments(void)
{
    char line[1024];
    unsigned long start = 0, low, end = 0, page = (unsigned long)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/stat", "re");
    const char *at = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    for (int field = 2; at && field < 48; field++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, " %lu", &start) != 1)
        return false;
    start &= ~(page - 1);
    file = fopen("/proc/self/maps", "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "%lx-%lx", &low, &end) == 2 && low <= start && start < end)
            return munmap((void *)start, end - start) == 0;
    return false;
}

/* Far enough below its arguments on the stack that they have pages of their own. */
static void lose_arguments(int told)
{
    volatile char room[1 << 16] = {0};
    char may = drop_arguments() && room[0] == 0;
    (void)!write(told, &may, 1);
    for (;;)
        pause();
}

/* Between the loss of its arguments and its end it still has its files, and locks on them. */
static void one_that_is_ending_counts(void **state)
{
    (void)state;
    int ends[2];
    char may = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t process = fork();
    if (process == 0) {
        setsid();
        lose_arguments(ends[1]);
    }
    assert_int_equal(read(ends[0], &may, 1), 1);
    close(ends[0]);
    close(ends[1]);
    size_t count = process_signal_group(process, "unix:///ending", 0);
    end_group(process);
    assert_true(may);
    assert_int_equal(count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_those_of_the_group_with_the_argument_are_signalled),
        cmocka_unit_test(what_remains_of_a_process_is_none),
        cmocka_unit_test(one_that_is_ending_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
