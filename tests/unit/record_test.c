/* job.yaml: what is written reads back; damage is told, never a crash */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/system.h"
#include "spool/record.h"
#include "spool/spool.h"

static struct job_record sample(void)
{
    return (struct job_record){
        .id = TEXT("digits-0123456789abc"),
        .name = TEXT("digits: \"quoted\"\n"),
        .owner = TEXT("alice"),
        .uid = 4294967294u,
        .gid = 1000,
        .accepted = 1800000000123,
        .source = TEXT("job.yaml"),
        .request_file = TEXT("request.yaml"),
        .library = TEXT("sklearn"),
        .version = TEXT("1.10"),
        .type = TEXT("single"),
        .priority = -5,
        .retries = 3,
        .time_limit = 3600000,
        .cpus = 1500,
        .memory = (int64_t)1 << 40,
        .executor = TEXT("local"),
        .attempt = 2,
        .failed = true,
        .failure = {.when = RETRY_AT,
                    .reason = TEXT("Exited"),
                    .class = TEXT("unknown"),
                    .exit_code = 3,
                    .failed = 1800000001000,
                    .next = 1800000031000,
                    .delay = 30000},
    };
}

static void records_read_back(void **state)
{
    (void)state;
    char *path = unit_directory();
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct job_record written = sample(), read;
    struct arena *arena = arena_new();
    struct error error;
    assert_int_equal(record_create(job, &written, &error), 0);
    assert_int_equal(record_read(job, arena, &read, &error), 0);
    assert_true(text_equal(read.id, written.id));
    assert_true(text_equal(read.name, written.name));
    assert_int_equal(read.uid, written.uid);
    assert_int_equal(read.accepted, written.accepted);
    assert_true(text_is(read.version, "1.10"));
    assert_int_equal(read.priority, -5);
    assert_int_equal(read.memory, (int64_t)1 << 40);
    assert_true(read.failed);
    assert_int_equal(read.failure.when, RETRY_AT);
    assert_int_equal(read.failure.next, written.failure.next);
    assert_int_equal(read.failure.exit_code, 3);
    written.failed = false;
    assert_int_equal(record_replace(job, &written, &error), 0);
    assert_int_equal(record_read(job, arena, &read, &error), 0);
    assert_false(read.failed);
    arena_free(arena);
    close(job);
    unit_remove(path);
}

/* Every prefix of a record, and the record with every byte changed: read or refused, no more. */
static void damage_is_told(void **state)
{
    (void)state;
    char *path = unit_directory();
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct job_record written = sample(), read;
    struct buffer whole = {0};
    struct error error;
    size_t refused = 0;
    assert_int_equal(record_create(job, &written, &error), 0);
    assert_int_equal(file_read_at(job, "job.yaml", 65536, &whole, &error), 0);
    for (size_t i = 0; i < 2 * whole.length; i++) {
        struct buffer damaged = {0};
        struct arena *arena = arena_new();
        buffer_add(&damaged, whole.data, i < whole.length ? i : whole.length);
        if (i >= whole.length)
            damaged.data[i - whole.length] ^= 0x55;
        error.text[0] = '\0';
        assert_int_equal(job_file_replace(job, "job.yaml", buffer_text(&damaged), 0644, &error), 0);
        if (record_read(job, arena, &read, &error)) {
            refused++;
            assert_true(error.text[0] != '\0');
        } else {
            assert_true(id_valid(read.id));
        }
        arena_free(arena);
        buffer_free(&damaged);
    }
    assert_true(refused > whole.length / 4);
    assert_int_equal(unlinkat(job, "job.yaml", 0), 0);
    struct arena *arena = arena_new();
    assert_int_equal(record_read(job, arena, &read, &error), -1);
    assert_non_null(strstr(error.text, "job.yaml"));
    arena_free(arena);
    buffer_free(&whole);
    close(job);
    unit_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_read_back),
        cmocka_unit_test(damage_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
