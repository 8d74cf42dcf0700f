/* tests/unit/process_test.c - processes are told from one another
 *
 * Seen to fail with: tests/mutants/process-*.patch.
 */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executors/local/process.h"

/* A shell of a group of its own with `mark` among its arguments; the program that it has started has not. */
static pid_t start_group(const char *mark)
{
    pid_t process = fork();
    if (process == 0) {
        setsid();
        execlp("sh", "sh", "-c", "sleep 600 & wait", mark, NULL);
        _exit(127);
    }
    while (process_signal_group(process, mark, 0) == 0)
        process_pause(5);
    return process;
}

static void end_group(pid_t process)
{
    kill(-process, SIGKILL);
    waitpid(process, NULL, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_those_of_the_group_with_the_argument_are_signalled),
        cmocka_unit_test(what_remains_of_a_process_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
