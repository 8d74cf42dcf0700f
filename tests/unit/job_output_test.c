/* tests/unit/job_output_test.c - output/ of a job is a directory of the daemon's own making
 *
 * Seen to fail with: tests/mutants/output-takes-anybodys-directory.patch.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/shared/output.h"

static void another_users_is_put_aside(void **state)
{
    struct error error;
    struct stat status;
    char *path = unit_directory(), command[1200];
    int job = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)state;
    int output = output_open(job, (gid_t)-1, &error);
    assert_true(output >= 0);
    close(output);
    output = output_open(job, (gid_t)-1, &error); /* its own stays */
    assert_true(output >= 0);
    close(output);
    assert_int_equal(faccessat(job, "output.damaged", F_OK, 0), -1);
    if (geteuid() == 0) {
        snprintf(command, sizeof(command), "chown daemon '%s/output'", path);
        assert_int_equal(system(command), 0);
        output = output_open(job, 1, &error);
        assert_int_equal(fstat(output, &status), 0);
        assert_int_equal(status.st_uid, 0);
        assert_int_equal(status.st_gid, 1);
        assert_int_equal(faccessat(job, "output.damaged", F_OK, 0), 0);
        close(output);
    }
    close(job);
    unit_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_users_is_put_aside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
