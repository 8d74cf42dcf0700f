/* tests/unit/slurm_numbers_test.c - numbers of jobs, users and nodes as a slurmrestd tells them
 * that counts again, leaves names out, or tells nonsense
 */
#include "tests/unit/slurm_fake.h"

#include "base/system.h"
#include "executors/slurm/accounting.h"
#include "executors/slurm/numbers.h"

/* As if one of ours had had that number. */
static void note_largest(long largest)
{
    char text[32];
    mkdir(fake_path("jobs"), 0711);
    int file = open(fake_path("jobs/.largest"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    snprintf(text, sizeof(text), "%ld      \n", largest);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static long noted_largest(void)
{
    char text[64] = "";
    int file = open(fake_path("jobs/.largest"), O_RDONLY);
    assert_true(file >= 0 && read(file, text, sizeof(text) - 1) > 0);
    close(file);
    return atol(text);
}

static void assert_state(size_t number, const char *state, int releases)
{
    const struct value *job = fake_job(number);
    assert_string_equal(value_get_text(job, "job_state").data, state);
    assert_int_equal(value_get_number(job, "releases", 0), releases);
}

static void numbers_that_began_anew_are_taken(void **state)
{
    (void)state;
    note_largest(5000);
    fake_submit("j-1", fake_manifest);
    assert_int_equal(fake_job_count(), 1);
    assert_state(0, "PENDING", 1);
    assert_int_equal(noted_largest(), 1);
    /* What is lost from here on is seen again. */
    fake_submit("j-2", fake_manifest);
    fake_order("{\"forget\": 2}");
    fake_submit("j-3", fake_manifest);
    assert_int_equal(fake_job_count(), 3);
    assert_state(1, "CANCELLED", 0);
    assert_state(2, "PENDING", 1);
    assert_int_equal(noted_largest(), 3);
}

static void few_jobs_are_given_back(void **state)
{
    (void)state;
    note_largest(900);
    fake_submit("j-1", fake_manifest);
    size_t count = fake_job_count();
    assert_true(count > 1 && count <= 20);
    for (size_t i = 0; i + 1 < count; i++)
        assert_state(i, "CANCELLED", 0);
    assert_state(count - 1, "PENDING", 0);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_state(count - 1, "PENDING", 1);
    assert_int_equal(fake_job_count(), count);
}

static void few_that_were_forgotten_are_given_back(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"forget\": \"all\"}");
    note_largest(900);
    fake_poll("j-1");
    fake_ahead += 4000;
    for (int i = 0; i < 40; i++)
        assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    size_t count = fake_job_count();
    assert_true(count > 1 && count <= 20);
    assert_state(count - 1, "PENDING", 1);
}

static struct system_calls really;
static struct slurm *other; /* which keeps its numbers in the midst of the next call */

static void let_other_keep(void)
{
    struct slurm *now = other;
    other = NULL;
    if (now)
        slurm_numbers_keep(now);
}

static int open_behind_other(int directory, const char *name, int flags, mode_t mode)
{
    if (flags & O_CREAT)
        let_other_keep();
    return really.openat(directory, name, flags, mode);
}

static ssize_t write_behind_other(int file, const void *bytes, size_t length)
{
    let_other_keep();
    return really.write(file, bytes, length);
}

/* What one process writes down between another's look at it and its own number is not overwritten by a smaller one. */
static void the_largest_of_two_processes_stays(void **state)
{
    int directory = open(fake.directory, O_RDONLY | O_DIRECTORY);
    struct slurm first = {.directory = directory}, second = {.directory = directory};
    (void)state;
    really = sys;
    slurm_numbers_note(&first, 5000);
    slurm_numbers_keep(&first);
    for (int64_t at = 5010; at < 5100; at += 10) {
        slurm_numbers_note(&first, at);
        slurm_numbers_note(&second, at + 5);
        other = &second;
        if (at % 20)
            sys.openat = open_behind_other;
        else
            sys.write = write_behind_other;
        slurm_numbers_keep(&first);
        sys = really;
        assert_null(other);
        slurm_numbers_keep(&second);
        assert_int_equal(slurm_numbers_mark(&second), at + 5);
        assert_int_equal(slurm_numbers_mark(&first), at + 5);
    }
    close(directory);
}

/* Two processes of the daemon, each of which remembers a mark. */
static void a_process_learns_from_the_other_that_numbers_began_again(void **state)
{
    int directory = open(fake.directory, O_RDONLY | O_DIRECTORY);
    struct slurm first = {.directory = directory}, second = {.directory = directory};
    (void)state;
    slurm_numbers_note(&first, 5000);
    slurm_numbers_keep(&first);
    assert_int_equal(slurm_numbers_mark(&second), 5000);
    /* Answers come in any order. */
    assert_true(slurm_numbers_take(&first, 5000, 12));
    assert_true(slurm_numbers_take(&first, 5000, 11));
    slurm_numbers_keep(&first);
    assert_int_equal(slurm_numbers_mark(&first), 12);
    slurm_numbers_note(&second, 13); /* which it does not believe yet */
    slurm_numbers_keep(&second);
    assert_int_equal(slurm_numbers_mark(&first), 12);
    slurm_numbers_note(&second, 13);
    slurm_numbers_keep(&second);
    assert_int_equal(slurm_numbers_mark(&first), 13);
    assert_false(slurm_numbers_take(&first, 13, 13));
    /* An old job that is still there does not turn the mark back. */
    slurm_numbers_note(&first, 9000);
    slurm_numbers_note(&first, 13);
    slurm_numbers_keep(&first);
    assert_int_equal(slurm_numbers_mark(&second), 9000);
    /* One that knows less does not write less down. */
    struct slurm third = {.directory = directory};
    slurm_numbers_note(&third, 20);
    slurm_numbers_keep(&third);
    assert_int_equal(slurm_numbers_mark(&second), 9000);
    close(directory);
}

/* ---- users ---- */

static const char comment[] = "dlspool:test:j-1:1";

/* A record as v0.0.36 lists it: without a name of the user. */
static void add_record(const char *mark, const char *state, unsigned int uid)
{
    fake_order("{\"add\": {\"comment\": \"%s%s\", \"name\": \"j-1-a1\", \"job_state\": \"%s\", "
               "\"user_name\": \"\", \"user_id\": %u}}",
               comment, mark, state, uid);
}

static enum submit_outcome submit_again(void)
{
    struct submission submission = fake_submission("j-1", fake_manifest);
    submission.repeated = true;
    return fake_submit_it(&submission);
}

static void a_job_is_its_users_by_his_number(void **state)
{
    (void)state;
    fake_stop();
    fake_start("36", "");
    add_record(":released", "PENDING", geteuid());
    assert_int_equal(submit_again(), SUBMIT_ACCEPTED);
    assert_int_equal(fake_job_count(), 1);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
}

static void a_job_of_another_with_our_comment_is_not_ours(void **state)
{
    struct error error;
    (void)state;
    fake_stop();
    fake_start("36", "");
    add_record(":released", "COMPLETED", geteuid() + 1);
    add_record("", "RUNNING", geteuid() + 1);
    assert_int_equal(submit_again(), SUBMIT_ACCEPTED);
    assert_int_equal(fake_job_count(), 3);
    assert_state(2, "PENDING", 1);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    assert_int_equal(executor_cancel(fake.executor, "j-1", 1, true, &error), 0);
    assert_state(1, "RUNNING", 0);
    assert_state(2, "CANCELLED", 1);
}

/* ---- nonsense ---- */

static void nodes_that_tell_nonsense_are_not_believed(void **state)
{
    struct capacity capacity;
    struct error error;
    (void)state;
    fake_stop();
    fake_start("38",
               "--nodes '[{\"name\": \"n1\", \"state\": \"idle\", \"cpus\": \"nan\", "
               "\"alloc_cpus\": \"-inf\", \"real_memory\": \"nan\", \"alloc_memory\": \"inf\"},"
               " {\"name\": \"n2\", \"state\": \"idle\", \"cpus\": 1e300, \"real_memory\": 1e12, "
               "\"gres\": \"gpu:99999999\"},"
               " {\"name\": \"n3\", \"state\": \"idle\", \"cpus\": -5, \"real_memory\": -1e18},"
               " {\"name\": \"n4\", \"state\": \"idle\", \"cpus\": \"4\", \"alloc_cpus\": \"nan\", "
               "\"real_memory\": 500, \"alloc_memory\": -1, \"gres\": \"gpu:2\"}]'");
    assert_int_equal(fake.executor->operations->capacity(fake.executor, &capacity, &error), 0);
    assert_int_equal(capacity.nodes_ready, 4);
    assert_true(capacity.cpus == 4000 && capacity.cpus_free == 4000);
    assert_true(capacity.memory == (int64_t)500 << 20 && capacity.memory_free == capacity.memory);
    assert_int_equal(capacity.gpus, 2);
}

static void an_accounting_that_tells_nonsense_is_not_believed(void **state)
{
    struct error error;
    struct slurm_record record;
    (void)state;
    const struct value *job = json_read(
        fake.arena,
        TEXT("{\"name\": \"j-1-a1\", \"job_id\": 7, \"array\": {\"job_id\": 6, \"task_id\": 1e18}, "
             "\"het\": {\"job_id\": \"nan\", \"job_offset\": -1e30}, \"user\": \"u\"}"),
        "a job", &yaml_trusted_limits, &error);
    assert_true(slurm_accounting_read(&record, job));
    assert_true(record.number == 7 && record.array_number == 6 && record.array_index == -1);
    assert_true(record.het_number == 0 && record.het_offset == 0);
    job = json_read(fake.arena, TEXT("{\"name\": \"j-1-a1\", \"job_id\": 1e300}"), "a job",
                    &yaml_trusted_limits, &error);
    assert_false(slurm_accounting_read(&record, job));
}

static void the_accounting_adds_up_steps(void **state)
{
    struct error error;
    struct slurm_record record;
    (void)state;
    /* As 22.05 tells it: the microseconds of two sums, and what was used as requested. */
    const struct value *job = json_read(
        fake.arena,
        TEXT("{\"name\": \"j-1-a1\", \"job_id\": 7, \"steps\": ["
             "{\"time\": {\"total\": {\"seconds\": 1, \"microseconds\": 1017453}}, \"tres\": "
             "{\"requested\": {\"max\": [{\"type\": \"cpu\", \"count\": 1740}, {\"type\": \"mem\", "
             "\"count\": 72736768}]}, \"consumed\": {\"max\": [{\"type\": \"mem\", \"count\": "
             "1e12}]}}},"
             "{\"time\": {\"total\": {\"seconds\": 0, \"microseconds\": 1840}}, \"tres\": "
             "{\"requested\": {\"max\": [{\"type\": \"mem\", \"count\": 1667072}]}}},"
             "{\"time\": {\"total\": {\"seconds\": -1e30}}, \"tres\": {\"requested\": {\"max\": "
             "[{\"type\": \"mem\", \"count\": 1e30}, {\"type\": \"mem\"}, 7]}}}, null]}"),
        "a job", &yaml_trusted_limits, &error);
    assert_non_null(job);
    assert_true(slurm_accounting_read(&record, job));
    assert_int_equal((int64_t)record.cpu_time, 2019293);
    assert_int_equal((int64_t)record.memory_peak, 72736768);
}

static void nodes_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *nodes;
        int count;
    } lists[] = {{"", 0},
                 {"n1", 1},
                 {"n1,n2", 2},
                 {"n[1-3,7],m2", 5},
                 {"n[01-12]", 12},
                 {"r[1-2]n[1-3]", 6},
                 {"n[1-", 1},
                 {"n[3-1]", 1},
                 {"n[]", 1},
                 {"n[1-999999999]", 1},
                 {"n[1-2],[3-4]", 4}};
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
        assert_int_equal(slurm_record_count_nodes(text_of(lists[i].nodes)), lists[i].count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(the_accounting_adds_up_steps),
        cmocka_unit_test(nodes_are_counted),
        FAKE_TEST(numbers_that_began_anew_are_taken),
        FAKE_TEST(few_jobs_are_given_back),
        FAKE_TEST(few_that_were_forgotten_are_given_back),
        FAKE_TEST(a_process_learns_from_the_other_that_numbers_began_again),
        FAKE_TEST(the_largest_of_two_processes_stays),
        FAKE_TEST(a_job_is_its_users_by_his_number),
        FAKE_TEST(a_job_of_another_with_our_comment_is_not_ours),
        FAKE_TEST(nodes_that_tell_nonsense_are_not_believed),
        FAKE_TEST(an_accounting_that_tells_nonsense_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
