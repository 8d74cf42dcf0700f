/* the sandbox of intake: the spool can be used, and nothing else
 *
 * Each case runs in a child, since nobody comes out of a sandbox again.  To see it fail, leave out
 * confine_files() or confine_calls() in stages/sandbox.c.
 */
#include "spool/file.h"
#include "spool/job.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/sandbox.h"

struct fixture {
    char *path;
    struct spool spool;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error error;
    fixture->path = unit_directory();
    if (spool_create(fixture->path, &error) || spool_open(&fixture->spool, fixture->path, &error))
        return -1;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    spool_close(&fixture->spool);
    unit_remove(fixture->path);
    free(fixture);
    return 0;
}

/* Run `attempt` in a sandboxed child; what it returned, or 100 when the sandbox failed. */
static int within(const struct fixture *fixture, int (*attempt)(const struct fixture *fixture))
{
    pid_t child = fork();
    if (child == 0) {
        struct error error;
        if (sandbox_enter(&fixture->spool, TEXT(""), &error)) {
            fprintf(stderr, "%s\n", error.text);
            _exit(100);
        }
        _exit(attempt(fixture));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 2;
}

static int use_spool(const struct fixture *fixture)
{
    struct error error;
    int job = job_create((struct spool *)(uintptr_t)&fixture->spool, "x-0123456789abc", &error);
    return job < 0 || spool_file_create(job, "log", TEXT("x\n"), 0644, &error) ||
           job_publish((struct spool *)(uintptr_t)&fixture->spool, "x-0123456789abc",
                       STATE_RENDERED, &error);
}

static int open_socket(const struct fixture *fixture)
{
    (void)fixture;
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM ||
           socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM;
}

static int run_program(const struct fixture *fixture)
{
    (void)fixture;
    execl("/bin/true", "true", (char *)NULL);
    return errno != EPERM || fork() >= 0;
}

static int read_elsewhere(const struct fixture *fixture)
{
    (void)fixture;
    return open("/root", O_RDONLY) >= 0 || open("/tmp", O_RDONLY) >= 0 ||
           open("/var/log", O_RDONLY) >= 0 || open("/etc/passwd", O_RDONLY) < 0;
}

static int write_elsewhere(const struct fixture *fixture)
{
    (void)fixture;
    return open("/etc/passwd", O_WRONLY) >= 0 ||
           open("/tmp/dlspool-unit-outside", O_WRONLY | O_CREAT, 0600) >= 0;
}

static int gain_privileges(const struct fixture *fixture)
{
    (void)fixture;
    return setuid(0) == 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static void the_spool_can_be_used(void **state)
{
    assert_int_equal(within(*state, use_spool), 0);
}

static void there_is_no_network(void **state)
{
    assert_int_equal(within(*state, open_socket), 0);
}

static void no_program_can_be_run(void **state)
{
    assert_int_equal(within(*state, run_program), 0);
}

static void other_files_are_out_of_reach(void **state)
{
    if (!has_landlock())
        skip();
    assert_int_equal(within(*state, read_elsewhere), 0);
    assert_int_equal(within(*state, write_elsewhere), 0);
}

static void privileges_cannot_be_gained(void **state)
{
    assert_int_equal(within(*state, gain_privileges), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_spool_can_be_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_no_network, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_program_can_be_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_out_of_reach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(privileges_cannot_be_gained, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
