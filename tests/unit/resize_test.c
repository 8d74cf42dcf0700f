/* tests/unit/resize_test.c - the request that a running job is to have another size */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/shared/resize.h"
#include "tests/unit/unit.h"

static char *directory;
static int job;

static int make(void **state)
{
    (void)state;
    directory = unit_directory();
    job = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return job < 0;
}

static int end(void **state)
{
    (void)state;
    close(job);
    unit_remove(directory);
    return 0;
}

static void put(const char *bytes)
{
    int file = openat(job, "resize", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(write(file, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    close(file);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct job_record record = {.sizes = {.kind = SIZE_CPUS, .least = 1000, .most = 4000},
                                .resizes = 2};
    struct resize_request request = {.generation = 3,
                                     .from = 1000,
                                     .to = 4000,
                                     .when = 1767268800000,
                                     .reason = "to meet \"its\" deadline\nof today=now"};
    struct resize_request read;
    struct error error;
    assert_int_equal(resize_pending(job, &record, &read), 0);
    assert_false(resize_is_there(job));
    assert_int_equal(resize_write(job, &record, &request, &error), 0);
    assert_true(resize_is_there(job));
    assert_int_equal(resize_pending(job, &record, &read), 1);
    assert_int_equal(read.generation, 3);
    assert_int_equal(read.from, 1000);
    assert_int_equal(read.to, 4000);
    assert_int_equal(read.when, 1767268800000);
    assert_string_equal(read.reason, request.reason);
    record.resizes = 3;
    assert_int_equal(resize_pending(job, &record, &read), 0); /* it has been granted */
    assert_true(resize_is_there(job));
    assert_int_equal(resize_clear(job, &error), 0);
    assert_false(resize_is_there(job));
    assert_int_equal(resize_clear(job, &error), 0);
}

static void damage_is_no_request(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "",
        "\n",
        "2026-01-01T12:00:00.000Z resize generation=1 from=1 to=2", /* cut short */
        "2026-01-01T12:00:00.000Z resize generation=1 from=1\n",
        "2026-01-01T12:00:00.000Z resize generation=1 from=1 to=-2\n",
        "2026-01-01T12:00:00.000Z resize generation=0 from=1 to=2\n",
        "2026-01-01T12:00:00.000Z resize generation=99999999999 from=1 to=2\n",
        "2026-01-01T12:00:00.000Z kill generation=1 from=1 to=2\n",
        "resize generation=1 from=1 to=2\n",
    };
    struct job_record record = {0};
    struct resize_request request;
    struct error error;
    for (size_t i = 0; i < ARRAY_COUNT(damaged); i++) {
        put(damaged[i]);
        if (resize_pending(job, &record, &request) != 0)
            fail_msg("%s is a request", damaged[i]);
    }
    put("2026-01-01T12:00:00.000Z resize generation=1 from=1 to=2\n");
    assert_int_equal(resize_pending(job, &record, &request), 1);
    put("2026-01-01T12:00:00.000Z resize generation=2 from=1 to=2\n");
    assert_int_equal(resize_pending(job, &record, &request), 0); /* of nobody's */
    assert_int_equal(unlinkat(job, "resize", 0), 0);
    assert_int_equal(mkdirat(job, "resize", 0755), 0);
    assert_int_equal(resize_pending(job, &record, &request), 0);
    assert_true(resize_is_there(job));
    assert_int_equal(resize_clear(job, &error), 0);
    assert_false(resize_is_there(job));
    assert_int_equal(symlinkat("/dev/zero", job, "resize"), 0);
    assert_int_equal(resize_pending(job, &record, &request), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read, make, end),
        cmocka_unit_test_setup_teardown(damage_is_no_request, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
