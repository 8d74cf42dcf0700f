/* Tests for stages/shared/approval.h: when an approval counts, and what is said of a job that waits for one.
 *
 * Seen to fail with: tests/mutants/approval-*.patch.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "executors/registry/registry.h"
#include "spool/limit_words.h"
#include "spool/wants.h"
#include "stages/shared/approval_words.h"

enum { OWNER = 1000, APPROVER = 1001, OTHER = 1002, UNKNOWN_TO_ALL = 3999999 };

static const char table[] = "approvers: [1001, 1002, 1000]\n"
                            "privileges: {rdma: {capabilities: [IPC_LOCK]}}\n"
                            "limits: {rows: [{user: '*', gpus: 8, over: approve}]}\n";

static struct settings settings;
static struct job_record record;
static struct approval approval;
static struct error error;
static char *path;
static int job;

static void set(const char *source)
{
    settings_free(&settings);
    assert_int_equal(settings_parse(&settings, text_of(source), &error), 0);
}

static int open_new(void **state)
{
    (void)state;
    path = unit_directory();
    job = open(path, O_RDONLY | O_DIRECTORY);
    set(table);
    record = (struct job_record){.id = TEXT("a-0000000000001"),
                                 .uid = OWNER,
                                 .privileges = TEXT("rdma"),
                                 .wants = TEXT("privilege rdma"),
                                 .request_sha256 = TEXT("aa"),
                                 .first_manifest_sha256 = TEXT("bb"),
                                 .commit = TEXT("0123456789")};
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    close(job);
    unit_remove(path);
    settings_free(&settings);
    return 0;
}

static void approve(uid_t uid)
{
    struct approval made;
    approval_make(&settings, &record, uid, "ann", 1000, &made);
    assert_int_equal(approval_file_write(job, &made, &error), 0);
}

static enum approval_answer judge(void)
{
    return approval_judge(&settings, NULL, &record, job, &approval, &error);
}

static void void_for(const char *reason)
{
    assert_int_equal(judge(), APPROVAL_VOID);
    if (!strstr(error.text, reason))
        fail_msg("%s", error.text);
    assert_int_equal(approval_is_due(&settings, &record, job), 1);
}

static void counts_until_something_changes(void **state)
{
    const struct job_record before = record;
    (void)state;
    assert_int_equal(judge(), APPROVAL_MISSING);
    approve(APPROVER);
    assert_int_equal(judge(), APPROVAL_GIVEN);
    assert_int_equal(approval_is_due(&settings, &record, job), 0);
    record.attempt = 7; /* the same job */
    assert_int_equal(judge(), APPROVAL_GIVEN);
    record.first_manifest_sha256 = TEXT("cc");
    void_for("by commit 0123456 of templates.git, and its manifest is another");
    record = before;
    record.request_sha256 = TEXT("cc");
    void_for("the job file is another");
    record = before;
    record.wants = TEXT("privilege rdma; image x");
    void_for("wants something else");
    record = before;
    set("approvers: [1001]\nprivileges: {rdma: {capabilities: [IPC_LOCK, SYS_ADMIN]}}\n");
    void_for("dlspool.yaml gives something else");
    set("approvers: [1002]\nprivileges: {rdma: {capabilities: [IPC_LOCK]}}\n");
    void_for("none of the approvers");
    record.wants = TEXT("");
    assert_int_equal(judge(), APPROVAL_NOT_WANTED);
}

static void nobody_decides_about_their_own(void **state)
{
    (void)state;
    approve(OWNER);
    void_for("nobody decides about a job of their own");
    approve(0);
    void_for("none of the approvers");
    assert_int_equal(approval_may_decide(&settings, &record, OTHER, "ben", &error), 0);
}

static void a_seal_is_of_one_job(void **state)
{
    struct seal_key key = {.needed = true, .bytes = {1}};
    struct approval made;
    (void)state;
    approve(APPROVER);
    assert_int_equal(approval_judge(&settings, &key, &record, job, &approval, &error),
                     APPROVAL_VOID);
    approval_make(&settings, &record, APPROVER, "ann", 1000, &made);
    approval_seal(&key, &record, &made);
    assert_int_equal(approval_file_write(job, &made, &error), 0);
    assert_int_equal(approval_judge(&settings, &key, &record, job, &approval, &error),
                     APPROVAL_GIVEN);
    record.id = TEXT("a-0000000000002");
    assert_int_equal(approval_judge(&settings, &key, &record, job, &approval, &error),
                     APPROVAL_VOID);
}

/* The file says that somebody else approved it. */
static enum approval_answer judge_with_name(const struct seal_key *key, struct approval made,
                                            const char *name)
{
    snprintf(made.by, sizeof(made.by), "%s", name);
    assert_int_equal(approval_file_write(job, &made, &error), 0);
    return approval_judge(&settings, key, &record, job, &approval, &error);
}

static void a_seal_is_of_who_approved(void **state)
{
    /* Made by a dlspool that left the name out. */
    static const char old[] = "5d665c596886741fab20c29a3502f9c51067ec2c6b18834c9d1ffc4b7e1d7c99";
    struct seal_key key = {.needed = true, .bytes = {1}};
    struct approval made;
    char number[16];
    (void)state;
    approval_make(&settings, &record, APPROVER, "ann", 1000, &made);
    approval_seal(&key, &record, &made);
    assert_int_equal(judge_with_name(&key, made, "ann"), APPROVAL_GIVEN);
    assert_int_equal(judge_with_name(&key, made, "ben"), APPROVAL_VOID);
    snprintf(number, sizeof(number), "%d", UNKNOWN_TO_ALL);
    set("approvers: [3999999]\nprivileges: {rdma: {capabilities: [IPC_LOCK]}}\n");
    approval_make(&settings, &record, UNKNOWN_TO_ALL, number, 1000, &made);
    memcpy(made.seal, old, sizeof(old));
    assert_int_equal(judge_with_name(&key, made, number), APPROVAL_GIVEN);
    assert_int_equal(judge_with_name(&key, made, "ann"), APPROVAL_VOID);
}

static void one_decision_replaces_the_other(void **state)
{
    struct control_request refusal;
    struct buffer words = {0};
    (void)state;
    approve(APPROVER);
    assert_int_equal(approval_file_refuse(job, "ben", OTHER, TEXT("not \"now\""), 2000, &error), 0);
    assert_int_equal(judge(), APPROVAL_MISSING);
    assert_int_equal(approval_file_refused(job, &refusal, &words), 1);
    assert_string_equal(refusal.by, "ben");
    assert_string_equal(words.data, "not \"now\"");
    approve(APPROVER);
    assert_int_equal(approval_file_refused(job, &refusal, &words), 0);
    int file = openat(job, "approve", O_WRONLY | O_TRUNC);
    assert_int_equal(write(file, "x", 1), 1);
    close(file);
    assert_int_equal(judge(), APPROVAL_MISSING); /* a damaged one says nothing */
    buffer_free(&words);
}

static void what_is_said(void **state)
{
    struct approval_words words;
    (void)state;
    record.wants = TEXT("privilege rdma; limit user * gpus=8; limit user ann gpus=9");
    approval_words_make(&settings, &record, APPROVAL_MISSING, &error, &words);
    assert_string_equal(
        words.sentence.data,
        "Waiting for approval: privilege rdma (capability IPC_LOCK); more than 8 GPUs for each user "
        "(limits.rows of dlspool.yaml, line 3, which an administrator can change); more than 9 "
        "GPUs for user ann.");
    assert_string_equal(
        words.detail.data,
        "A limit counts all jobs under it that run and wait, not this one alone.\n");
    assert_non_null(strstr(words.next.data, "when 1001 or 1002 approves it: dlspool approve a-0"));
    approval_words_free(&words);
    set("approvers: [1000]\n");
    error_set(&error, "because");
    approval_words_make(&settings, &record, APPROVAL_VOID, &error, &words);
    assert_string_equal(words.detail.data, "An approval does not count: because.\n");
    assert_non_null(strstr(words.next.data, "until an administrator names somebody but its owner"));
    approval_words_free(&words);
}

/* The words of a row are those of every amount; what nobody could have written stays as it is. */
static void rows_are_said_in_words(void **state)
{
    static const struct {
        const char *described, *words;
    } cases[] = {
        {"user * memory_bytes=2147483648", "2 GiB of memory for each user"},
        {"queue prod gpu_type=A100 running=1 gpus=8",
         "1 running job or 8 GPUs for queue prod, of jobs with GPUs of type A100"},
        {"group lab cpus_milli=1500 time_limit_ms=7200000",
         "1.5 CPUs or a time_limit of 2 h for group lab"},
        {"user * gpu_time_ms=3600000 gpu_period_ms=86400000",
         "1 GPU-hour within 1 d for each user"},
        {"user * waiting=3 pigs=2", "user * waiting=3 pigs=2"},
        {"user *", "user *"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer words = {0};
        limit_words_add(text_of(cases[i].described), &words);
        assert_string_equal(words.length ? words.data : "", cases[i].words);
        buffer_free(&words);
    }
}

static void what_executors_cannot_give(void **state)
{
    static const struct text lock = {"IPC_LOCK", 8}, fuse = {"/dev/fuse", 9};
    const struct grant capability = {.capabilities = &lock, .capability_count = 1};
    const struct grant device = {.devices = &fuse, .device_count = 1};
    const struct grant network = {.host_network = true};
    (void)state;
    assert_int_equal(registry_check_grant(TEXT("local"), &capability, OWNER, &error), 0);
    assert_int_equal(registry_check_grant(TEXT("local"), &device, OWNER, &error), 0);
    assert_int_equal(registry_check_grant(TEXT("slurm"), &network, OWNER, &error), 0);
    assert_int_equal(registry_check_grant(TEXT("slurm"), &capability, OWNER, &error), -1);
    assert_int_equal(registry_check_grant(TEXT("slurm"), &device, OWNER, &error), -1);
    assert_int_equal(registry_check_grant(TEXT("kubernetes"), &network, OWNER, &error), 0);
    assert_int_equal(registry_check_grant(TEXT("kubernetes"), &device, 0, &error), -1);
    assert_int_equal(registry_check_grant(TEXT("kubernetes"), &capability, 0, &error), 0);
    assert_int_equal(registry_check_grant(TEXT("kubernetes"), &capability, OWNER, &error), -1);
    assert_non_null(strstr(error.text, "to programs of root alone"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_new, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counts_until_something_changes),
        TEST(nobody_decides_about_their_own),
        TEST(a_seal_is_of_one_job),
        TEST(a_seal_is_of_who_approved),
        TEST(one_decision_replaces_the_other),
        TEST(what_is_said),
        TEST(rows_are_said_in_words),
        TEST(what_executors_cannot_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
