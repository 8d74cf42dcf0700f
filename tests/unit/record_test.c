/* job.yaml: what is written reads back; damage is told, never a crash */
#include "base/file.h"
#include "spool/file.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "spool/record.h"
#include "spool/spool.h"

static struct awaited sample_after[] = {
    {{"afterok", 7}, {"prepare", 7}, {"prepare-0123456789abc", 21}},
    {{"afterany", 8}, {"2024: \"x\"", 9}, {NULL, 0}},
};

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
        .manifest_sha256 = TEXT("e3b0c44298fc1c14"),
        .attempt = 2,
        .after = sample_after,
        .after_count = 2,
        .released = 1800000000500,
        .held = 1800000000200,
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
    assert_int_equal(read.released, written.released);
    assert_int_equal(read.held, written.held);
    assert_int_equal(read.after_count, 2);
    assert_true(text_is(read.after[0].condition, "afterok"));
    assert_true(text_is(read.after[0].job, "prepare"));
    assert_true(text_is(read.after[0].id, "prepare-0123456789abc"));
    assert_true(text_is(read.after[1].job, "2024: \"x\""));
    assert_int_equal(read.after[1].id.length, 0);
    written.failed = false;
    assert_int_equal(record_replace(job, &written, &error), 0);
    assert_int_equal(record_read(job, arena, &read, &error), 0);
    assert_false(read.failed);
    arena_free(arena);
    close(job);
    unit_remove(path);
}

/* Any changed byte is noticed; a file without a sum is believed, as it was edited by hand. */
static void a_changed_byte_is_damage(void **state)
{
    (void)state;
    char *path = unit_directory();
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct job_record written = sample(), read;
    struct arena *arena = arena_new();
    struct buffer bytes = {0};
    struct error error;
    assert_int_equal(record_create(job, &written, &error), 0);
    assert_int_equal(file_read_at(job, "job.yaml", 65536, &bytes, &error), 0);
    char *uid = strstr(bytes.data, "uid: ");
    assert_non_null(uid);
    uid[5] = '3';
    assert_int_equal(spool_file_renew(job, "job.yaml", buffer_text(&bytes), 0644, &error), 0);
    assert_int_equal(record_read(job, arena, &read, &error), -1);
    assert_int_equal(errno, EBADMSG);
    assert_non_null(strstr(error.text, "it is not what its first line, sum, was made of"));
    const char *fields = strchr(bytes.data, '\n') + 1;
    assert_int_equal(spool_file_renew(job, "job.yaml", text_of(fields), 0644, &error), 0);
    assert_int_equal(record_read(job, arena, &read, &error), 0);
    assert_int_equal(read.uid, 3294967294u);
    buffer_free(&bytes);
    arena_free(arena);
    close(job);
    unit_remove(path);
}

static struct job_record sized_sample(void)
{
    struct job_record record = sample();
    record.deadline = 1800003600000;
    record.deadline_mode = TEXT("firm");
    record.weight = 0.25;
    record.units_total = 1e6 + 0.5;
    record.units_pattern = TEXT("step {done}/{total} \"*\"");
    record.sizes = (struct sizes){SIZE_CPUS, 500, 4000, 250};
    record.size = 1000;
    record.size_asked = 1500;
    record.size_now = 2000;
    record.size_next = 4000;
    record.resizes = 7;
    record.resized = 1800000500000;
    record.checkpoint_signal = TEXT("USR1");
    record.checkpoint_grace = 30000;
    record.checkpoint_interval = 600000;
    record.gpu_type = TEXT("A100");
    record.change_since = 1800000000124;
    record.arguments_sha256 = TEXT("e3b0c44298fc1c149afbf4c8996fb924");
    return record;
}

static void deadlines_and_sizes_read_back(void **state)
{
    (void)state;
    struct job_record written = sized_sample(), read;
    struct arena *arena = arena_new();
    struct buffer whole = {0}, again = {0};
    struct error error;
    assert_int_equal(record_format(&written, &whole, &error), 0);
    if (record_parse(arena, buffer_text(&whole), &read, &error))
        fail_msg("%s", error.text);
    assert_int_equal(read.deadline, written.deadline);
    assert_true(text_is(read.deadline_mode, "firm"));
    assert_true(read.weight == 0.25);
    assert_true(read.units_total == 1e6 + 0.5);
    assert_int_equal(read.units_file.length, 0);
    assert_true(text_equal(read.units_pattern, written.units_pattern));
    assert_int_equal(read.sizes.kind, SIZE_CPUS);
    assert_int_equal(read.sizes.least, 500);
    assert_int_equal(read.sizes.most, 4000);
    assert_int_equal(read.sizes.step, 250);
    assert_int_equal(read.size, 1000);
    assert_int_equal(read.size_asked, 1500);
    assert_int_equal(read.size_now, 2000);
    assert_int_equal(read.size_next, 4000);
    assert_int_equal(read.resizes, 7);
    assert_int_equal(read.resized, written.resized);
    assert_true(text_is(read.checkpoint_signal, "USR1"));
    assert_int_equal(read.checkpoint_grace, 30000);
    assert_int_equal(read.checkpoint_interval, 600000);
    assert_true(text_is(read.gpu_type, "A100"));
    assert_int_equal(read.change_since, 1800000000124);
    assert_true(text_equal(read.arguments_sha256, written.arguments_sha256));
    assert_int_equal(record_format(&read, &again, &error), 0);
    assert_string_equal(again.data, whole.data);
    buffer_free(&again);
    buffer_free(&whole);
    arena_free(arena);
}

/* Byte for byte, so that the sums of jobs that were there before hold when they are written again. */
static void a_record_without_them_is_as_it_was(void **state)
{
    (void)state;
    struct job_record written = {.id = TEXT("x-0123456789abc"),
                                 .name = TEXT("x"),
                                 .uid = 7,
                                 .gid = 8,
                                 .accepted = 1000,
                                 .failure.exit_code = -1};
    struct buffer whole = {0};
    struct error error;
    assert_int_equal(record_format(&written, &whole, &error), 0);
    assert_string_equal(whole.data, "format: 1\n"
                                    "id: \"x-0123456789abc\"\n"
                                    "name: \"x\"\n"
                                    "uid: 7\n"
                                    "gid: 8\n"
                                    "accepted: \"1970-01-01T00:00:01.000Z\"\n"
                                    "priority: 0\n"
                                    "retries: 0\n"
                                    "retried: 0\n"
                                    "backoff_ms: 0\n"
                                    "time_limit_ms: 0\n"
                                    "cpus_milli: 0\n"
                                    "memory_bytes: 0\n"
                                    "gpus: 0\n"
                                    "image_line: 0\n"
                                    "attempt: 0\n");
    buffer_free(&whole);
}

/* Every prefix of a record, and the record with every byte changed: read or refused, no more. */
static void damage_is_told(void **state)
{
    (void)state;
    char *path = unit_directory();
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct job_record written = sized_sample(), read;
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
        assert_int_equal(spool_file_replace(job, "job.yaml", buffer_text(&damaged), 0644, &error),
                         0);
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

/* The record with the first `from` replaced by `to`. */
static void check_altered(const char *from, const char *to, const char *words)
{
    struct job_record written = sized_sample(), read;
    struct buffer whole = {0}, altered = {0};
    struct arena *arena = arena_new();
    struct error error = {""};
    assert_int_equal(record_format(&written, &whole, &error), 0);
    char *at = strstr(whole.data, from);
    if (!at)
        fail_msg("%s is not in the record:\n%s", from, whole.data);
    buffer_add(&altered, whole.data, (size_t)(at - whole.data));
    buffer_add_string(&altered, to);
    buffer_add_string(&altered, at + strlen(from));
    if (record_parse(arena, buffer_text(&altered), &read, &error) == 0)
        fail_msg("taken with \"%s\" instead of \"%s\"", to, from);
    if (!strstr(error.text, words))
        fail_msg("%s instead of %s: found \"%s\", expected %s", to, from, error.text, words);
    arena_free(arena);
    buffer_free(&altered);
    buffer_free(&whole);
}

static void each_field_is_looked_at(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } table[] = {
        {"uid: 4294967294\n", "", "uid is missing"},
        {"gid: 1000\n", "", "gid is missing"},
        {"id: \"digits-0123456789abc\"\n", "", "id is missing"},
        {"uid: 4294967294", "uid: -1", "uid"},
        {"uid: 4294967294", "uid: 4294967296", "uid"},
        {"uid: 4294967294", "uid: \"0\"", "uid"},
        {"gid: 1000", "gid: null", "gid"},
        {"attempt: 2", "attempt: 2.5", "attempt"},
        {"attempt: 2", "attempt: 2147483648", "attempt"},
        {"attempt: 2", "attempt: [2]", "attempt"},
        {"attempt: 2\n", "", "attempt is missing"},
        {"attempt: 2", "attempt: 0", "attempt is less than 1"},
        {"attempt: 2", "attempt: -2", "attempt is less than 1"},
        {"owner: \"alice\"", "owner: 7", "owner"},
        {"owner: \"alice\"", "owner: {}", "owner"},
        {"accepted: \"", "accepted: \"x", "accepted"},
        {"retry: \"at\"", "retry: \"soon\"", "retry"},
        {"delay_ms: 30000", "delay_ms: 1e300", "delay_ms"},
        {"id: \"digits-0123456789abc\"", "id: \"../x-0123456789abc\"", "id"},
        {"deadline: \"", "deadline: \"x", "deadline"},
        {"weight: 0.25", "weight: -0.25", "weight"},
        {"weight: 0.25", "weight: 1e301", "weight"},
        {"weight: 0.25", "weight: \"2\"", "weight"},
        {"resizes: 7", "resizes: -1", "resizes"},
        {"size: 1000", "size: -1000", "size"},
        {"size: 1000", "size: 999.5", "size"},
        {"size: 1000", "size: 499", "none of its sizes"},
        {"size_asked: 1500", "size_asked: 499", "none of its sizes"},
        {"size_now: 2000", "size_now: 4001", "none of its sizes"},
        {"size_next: 4000", "size_next: 1", "none of its sizes"},
        {"of: \"cpus\"", "of: \"fixed\"", "of"},
        {"  of: \"cpus\"\n", "", "of is missing"},
        {"least: 500", "least: 0", "sizes"},
        {"least: 500", "least: 4001", "sizes"},
        {"  most: 4000\n", "", "most is missing"},
        {"  signal: \"USR1\"\n", "", "signal is missing"},
        {"grace_ms: 30000", "grace_ms: -1", "grace_ms"},
        {"checkpoint:\n", "checkpoint: 7\nx:\n", "checkpoint is number"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        check_altered(table[i].from, table[i].to, table[i].words);
}

/* A job that never was rendered has no attempt yet, and need not say so. */
static void a_job_without_a_manifest_needs_no_attempt(void **state)
{
    (void)state;
    struct job_record written = sample(), read;
    struct error error;
    written.manifest_sha256 = (struct text){NULL, 0};
    written.attempt = 0;
    struct buffer whole = {0}, without = {0};
    struct arena *arena = arena_new();
    assert_int_equal(record_format(&written, &whole, &error), 0);
    if (record_parse(arena, buffer_text(&whole), &read, &error))
        fail_msg("%s", error.text);
    const char *at = strstr(whole.data, "attempt: 0\n");
    assert_non_null(at);
    buffer_add(&without, whole.data, (size_t)(at - whole.data));
    buffer_add_string(&without, at + strlen("attempt: 0\n"));
    if (record_parse(arena, buffer_text(&without), &read, &error))
        fail_msg("%s", error.text);
    assert_int_equal(read.attempt, 0);
    arena_free(arena);
    buffer_free(&whole);
    buffer_free(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_read_back),
        cmocka_unit_test(a_changed_byte_is_damage),
        cmocka_unit_test(deadlines_and_sizes_read_back),
        cmocka_unit_test(a_record_without_them_is_as_it_was),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(each_field_is_looked_at),
        cmocka_unit_test(a_job_without_a_manifest_needs_no_attempt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
