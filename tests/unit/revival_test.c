/* tests/unit/revival_test.c - which failed jobs rise again, when something changes
 *
 * One spool with a job for each way to fail for which a change may matter, through the real resubmit
 * stage; counted are those that go back to rendered/.
 */
#include "base/file.h"
#include "tests/unit/scratch_repository.h"
#include "tests/unit/stage_fixture.h"

#include "spool/why.h"
#include "stages/prepare/prepare.h"
#include "stages/shared/control.h"
#include "stages/shared/diagnosis.h"

#define TASKS "tasks: {main: {cpus: 1, gpus: 8}}\n"
#define SINGLE "name: a\nlibrary: any\ntype: single\nscript: 'true'\n" TASKS
#define ARRAY "name: a\nlibrary: any\ntype: array\nscript: 'true'\narray: 0-3\n" TASKS
#define NOTEBOOK "name: a\nlibrary: any\ntype: notebook\n" TASKS
#define TEMPLATE "{cpus: {$eval: 'job.roles[0].cpus'}, script: '${job.script}'}\n"

static const int64_t start = 1767225600000, day = 86400000;

static struct scratch templates;
static struct capacity machine;
static struct settings settings;
static struct repository *repository;
static struct arena *arena;

static int be_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static int tell_capacity(struct executor *executor, struct capacity *capacity,
                         struct error *problem)
{
    (void)executor;
    (void)problem;
    *capacity = machine;
    return 0;
}

static void refuse(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        batch[i]->outcome = SUBMIT_REFUSED;
        error_set(&batch[i]->error, "it is refused");
    }
}

static void close_nothing(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {.name = "local",
                                                      .ready = be_ready,
                                                      .submit = refuse,
                                                      .capacity = tell_capacity,
                                                      .close = close_nothing};

/* How each job failed. */
static const struct failed_job {
    const char *id, *request;
    enum submit_outcome outcome; /* SUBMIT_ACCEPTED: it was not rendered */
    enum submit_mender mender;
    int image_line;
} jobs[] = {
    {"manifest-1m80ns077fb01", SINGLE, SUBMIT_REFUSED, MENDER_MANIFEST, 0},
    {"owner-1m80ns077fb02", SINGLE, SUBMIT_REFUSED, MENDER_OWNER, 0},
    {"site-1m80ns077fb03", SINGLE, SUBMIT_REFUSED, MENDER_SITE, 0},
    {"own-image-1m80ns077fb04", SINGLE, SUBMIT_REFUSED, MENDER_IMAGE, 0},
    {"image-1m80ns077fb05", SINGLE, SUBMIT_REFUSED, MENDER_IMAGE, 1},
    {"large-1m80ns077fb06", SINGLE, SUBMIT_NEVER_FITS, MENDER_MANIFEST, 0},
    {"sweep-1m80ns077fb07", ARRAY, SUBMIT_NEVER_FITS, MENDER_MANIFEST, 0},
    {"no-template-1m80ns077fb08", NOTEBOOK, SUBMIT_ACCEPTED, MENDER_MANIFEST, 0},
    {"not-allowed-1m80ns077fb09", SINGLE "image: any:1\n", SUBMIT_ACCEPTED, MENDER_MANIFEST, 0},
};
enum { JOBS = ARRAY_COUNT(jobs) };

static void put_failed(const struct failed_job *failed)
{
    struct preparation preparation;
    struct diagnosis diagnosis = {.next = ""};
    char digest[SHA256_HEX_SIZE], there[GROWTH_TEXT_SIZE];
    struct circumstances circumstances = {.settings = &settings,
                                          .id = failed->id,
                                          .commit = repository_commit(repository),
                                          .now = now,
                                          .capacity =
                                              growth_describe(&fake_executor, &machine, there)};
    sha256_hex(text_of(failed->request), digest);
    struct job_record record = {.id = text_of(failed->id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .source = TEXT("a.yaml"),
                                .request_file = TEXT("request.yaml"),
                                .request_sha256 = text_of(digest),
                                .executor = TEXT("local"),
                                .attempt = 1,
                                .failure.exit_code = -1};
    assert_int_equal(
        prepare_request(arena, text_of(failed->request), "a.yaml", &record, &preparation),
        PREPARED);
    enum prepare_result prepared = prepare_manifest(arena, repository, &record, &preparation);
    assert_int_equal(prepared,
                     failed->outcome == SUBMIT_ACCEPTED ? PREPARE_NOT_RENDERED : PREPARED);
    record.image_line = failed->image_line;
    struct submission submission = {.outcome = failed->outcome, .mender = failed->mender};
    error_set(&submission.error, "it is refused");
    if (prepared == PREPARED)
        diagnosis_submission(&diagnosis, &circumstances, &record, &submission);
    else
        diagnosis_render(&diagnosis, &circumstances, preparation.failure, &preparation.error);
    int job = job_create(&spool, failed->id, &error);
    assert_int_equal(
        spool_file_create_private(job, "request.yaml", text_of(failed->request), (gid_t)-1, &error),
        0);
    assert_int_equal(spool_file_create(job, "log",
                                       TEXT("2026-01-01T00:00:00.000Z accepted file=a\n"), 0644,
                                       &error),
                     0);
    assert_int_equal(diagnosis_write(&diagnosis, job, &record, true, now, &error), 0);
    close(job);
    assert_int_equal(job_publish(&spool, failed->id, STATE_FAILED, &error), 0);
}

static int set_up(void **state)
{
    (void)state;
    char repository_path[4096];
    arena = arena_new();
    machine = (struct capacity){.cpus = 64000, .memory = (int64_t)1 << 40, .gpus = 4};
    open_spool(&resubmit_stage, &operations, start);
    write_settings("executor: local\nretry_interval: 1s\nprobe_interval: 1s\n");
    assert_int_equal(settings_read(&settings, &spool, &error), 0);
    scratch_open(&templates);
    scratch_put(&templates, "local/any/single.yaml", TEMPLATE);
    scratch_put(&templates, "local/any/array.yaml", TEMPLATE);
    scratch_put(&templates, "images.txt", "any * * * host\n");
    scratch_put(&templates, "site.yaml", "images: {allow_user: false}\n");
    scratch_commit(&templates);
    snprintf(repository_path, sizeof(repository_path), "%s/templates.git", path);
    assert_int_equal(rename(templates.path, repository_path), 0);
    git_repository_free(templates.git);
    assert_int_equal(git_repository_open(&templates.git, repository_path), 0);
    repository = repository_open(repository_path, "HEAD", &error);
    assert_int_equal(repository_refresh(repository, &error), 0);
    for (size_t i = 0; i < JOBS; i++)
        put_failed(&jobs[i]);
    open_stage();
    run_round_after(60000);
    return 0;
}

static int tear_down(void **state)
{
    repository_close(repository);
    settings_free(&settings);
    scratch_close(&templates);
    arena_free(arena);
    return close_spool(state);
}

/* Exactly these are in rendered/ after some rounds, each once; the names, with a space after each. */
static void expect_revived(const char *names)
{
    for (int i = 0; i < 4; i++)
        run_round_after(2000);
    for (size_t i = 0; i < JOBS; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s ", (int)(strlen(jobs[i].id) - 14), jobs[i].id);
        bool expected =
            strstr(names, name) && (strstr(names, name) == names || strstr(names, name)[-1] == ' ');
        if (in_state(jobs[i].id, STATE_RENDERED) != expected)
            fail_msg("%s is %s", jobs[i].id, expected ? "not revived" : "revived");
        enum state at = expected ? STATE_RENDERED : STATE_FAILED;
        assert_int_equal(find_events(jobs[i].id, at, "requeued", NULL), expected);
        assert_int_equal(find_events(jobs[i].id, at, "failed", NULL), 1);
    }
}

static void commit(const char *file, const char *content)
{
    scratch_put(&templates, file, content);
    scratch_commit(&templates);
}

static struct buffer why_of(const char *id)
{
    struct buffer why = {0};
    int job = open_job(id, STATE_FAILED);
    assert_int_equal(file_read_at(job, "why", 1 << 16, &why, &error), 0);
    close(job);
    return why;
}

static void reopen_with(const char *text)
{
    close_stage();
    write_settings(text);
    open_stage();
}

static void nothing_revives_for_nothing(void **state)
{
    (void)state;
    expect_revived("");
}

static void nothing_revives_for_a_comment(void **state)
{
    (void)state;
    reopen_with("executor: local\nretry_interval: 1s\nprobe_interval: 1s\n# a comment\n");
    expect_revived("");
}

/* What has failed is rendered again with them, once: the record says with which it was. */
static void other_settings_are_tried(void **state)
{
    (void)state;
    static const char other[] = "executor: local\nretry_interval: 1s\nbatch: 7\n";
    char digest[SHA256_HEX_SIZE];
    struct job_record record;
    reopen_with(other);
    expect_revived("");
    int job = open_job("no-template-1m80ns077fb08", STATE_FAILED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    close(job);
    sha256_hex(text_of(other), digest);
    assert_true(text_is(record.failure.settings, digest));
}

static void nothing_revives_for_another_template(void **state)
{
    (void)state;
    commit("local/any/ps.yaml", "{a: 1}\n");
    expect_revived("");
    commit("local/any/single.yaml", "# a comment\n" TEMPLATE);
    expect_revived("");
}

static void what_its_template_can_mend_revives(void **state)
{
    (void)state;
    commit("local/any/single.yaml", "{cpus: 7, script: '${job.script}'}\n");
    expect_revived("manifest image large ");
}

static void a_template_that_is_there_now_revives(void **state)
{
    (void)state;
    commit("local/any/notebook.yaml", "{a: 1}\n");
    expect_revived("no-template ");
}

static void what_is_not_allowed_waits_for_its_owner(void **state)
{
    (void)state;
    commit("site.yaml", "images: {allow_user: true}\n");
    expect_revived("");
}

static void enough_capacity_revives(void **state)
{
    (void)state;
    machine.gpus = 6;
    reopen_with("executor: local\nretry_interval: 1s\nprobe_interval: 1s\nbatch: 100\n");
    expect_revived("sweep "); /* how much of it there has to be at once is not known */
    machine.gpus = 8;
    expect_revived("sweep large ");
}

static void less_capacity_revives_nobody(void **state)
{
    (void)state;
    machine.gpus = 0;
    machine.cpus = 1000;
    expect_revived("");
    machine.gpus = 4;
    expect_revived("");
}

static void nobody_revives_after_a_week(void **state)
{
    (void)state;
    run_round_after(8 * day);
    run_round_after(2000);
    commit("local/any/single.yaml", "{cpus: 7, script: '${job.script}'}\n");
    commit("local/any/notebook.yaml", "{a: 1}\n");
    machine.gpus = 8;
    expect_revived("");
    struct buffer why = why_of("manifest-1m80ns077fb01");
    assert_non_null(strstr(why.data,
                           "it is refused\n\nNext: not retried by itself any more: its cause was "
                           "not fixed within 7 d"));
    assert_non_null(strstr(why.data, "dlspool retry manifest-1m80ns077fb01\n"));
    buffer_free(&why);
    int job = open_job("manifest-1m80ns077fb01", STATE_FAILED);
    struct job_record record;
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    assert_int_equal(record.failure.when, RETRY_NEVER);
    assert_int_equal(record.failure.failed, start);
    close(job);
}

static void a_job_of_a_week_ago_is_given_up_although_templates_change(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        char content[64];
        snprintf(content, sizeof(content), "images: {allow_user: false}\n# %d\n", i);
        commit("site.yaml", content);
        run_round_after(day);
        run_round_after(2000);
    }
    run_round_after(2 * day);
    commit("local/any/notebook.yaml", "{a: 1}\n");
    expect_revived("");
}

/* The submit stage takes what is in rendered/, and the executor refuses it. */
static void refuse_again(void)
{
    close_stage();
    stage_kind = &submit_stage;
    open_stage();
    run_round_after(1000);
    close_stage();
    stage_kind = &resubmit_stage;
    open_stage();
}

static void expect_next(const char *id, const char *words)
{
    struct buffer why = why_of(id);
    const char *next = strstr(why.data, "\nNext: ");
    if (!next || !strstr(next, words))
        fail_msg("%s: expected %s", why.data, words);
    buffer_free(&why);
}

static const char manifest_id[] = "manifest-1m80ns077fb01";

/* What the template can mend, on that day: it goes back, and is refused again. */
static void revive_and_refuse(int64_t time, int cpus)
{
    char content[128];
    run_round_after(time - now);
    snprintf(content, sizeof(content), "{cpus: %d, script: '${job.script}'}\n", cpus);
    commit("local/any/single.yaml", content);
    run_round_after(2000);
    assert_true(in_state(manifest_id, STATE_RENDERED));
    refuse_again();
    assert_true(in_state(manifest_id, STATE_FAILED));
}

static void being_refused_again_does_not_restart_the_week(void **state)
{
    (void)state;
    revive_and_refuse(start + 3 * day, 7);
    expect_next(manifest_id,
                "changed so that it is rendered to something else before 2026-01-08T00:00:00.000Z");
    revive_and_refuse(start + 6 * day, 8);
    expect_next(manifest_id, "before 2026-01-08T00:00:00.000Z, it is retried by itself.");
    run_round_after(start + 7 * day - now);
    expect_next(manifest_id, "not retried by itself any more: its cause was not fixed within 7 d.");
    commit("local/any/single.yaml", "{cpus: 9, script: '${job.script}'}\n");
    run_round_after(2000);
    assert_true(in_state(manifest_id, STATE_FAILED));
}

/* It was in rendered/ meanwhile. */
static void being_refused_after_the_week_is_for_good(void **state)
{
    (void)state;
    run_round_after(6 * day);
    commit("local/any/single.yaml", "{cpus: 7, script: '${job.script}'}\n");
    run_round_after(2000);
    assert_true(in_state(manifest_id, STATE_RENDERED));
    advance(2 * day);
    refuse_again();
    expect_next(
        manifest_id,
        "It is not retried by itself any more: its cause was not fixed within 7 d. To retry it "
        "now: dlspool retry manifest-1m80ns077fb01");
}

static void whoever_asks_for_a_retry_restarts_the_week(void **state)
{
    (void)state;
    run_round_after(5 * day);
    int job = open_job(manifest_id, STATE_FAILED);
    assert_int_equal(control_file_write(job, CONTROL_RETRY, TEXT("ann"), 1000, now, &error), 0);
    struct job_place place = {.state = STATE_FAILED};
    job_notify(&spool, &place, job);
    close(job);
    run_round_after(2000);
    assert_true(in_state(manifest_id, STATE_RENDERED));
    refuse_again();
    expect_next(manifest_id, "before 2026-01-13T00:0");
}

static void a_clock_that_was_wrong_keeps_nobody_waiting(void **state)
{
    (void)state;
    expect_next(manifest_id, "something else before 2026-01-08T00:00:00.000Z");
    now -= 400 * day;
    run_round_after(60000);
    run_round_after(6 * day);
    assert_int_equal(find_events(manifest_id, STATE_FAILED, "failed", NULL), 1);
    expect_next(manifest_id,
                "may succeed before 2024-12-04T00:02:00.000Z, it is retried by itself.");
    run_round_after(day);
    expect_next(manifest_id, "not retried by itself any more");
}

/* Everybody is told what to type. */
static void why_says_what_to_do(void **state)
{
    (void)state;
    static const char *const nexts[JOBS] = {
        "fix the cause, or change the job file and submit it again. If the templates",
        "not retried. Fix the cause, then run: dlspool retry owner-1m80ns077fb02\n",
        "not retried. Ask an administrator to fix the cause, then run: dlspool retry site-",
        "not retried. Change image in the job file, and submit it again.",
        "ask an administrator, as images.txt names that image; or choose another version, library or image in "
        "the job file, and submit it again. If the templates are changed",
        "change the job file and submit it again. If there is as much as it requests before "
        "2026-01-08T00:00:00.000Z, it is retried by itself.",
        "change the job file and submit it again. If there is as much",
        "change the job file and submit it again, or tell an administrator. If the templates are",
        "not retried. Change the job file and submit it again. If the site's rules",
    };
    for (size_t i = 0; i < JOBS; i++) {
        char command[128];
        struct buffer why = why_of(jobs[i].id);
        const char *next = strstr(why.data, "\nNext: ");
        snprintf(command, sizeof(command), "dlspool retry %s\n", jobs[i].id);
        if (!next || strncmp(next + 7, nexts[i], strlen(nexts[i])) != 0 || !strstr(next, command))
            fail_msg("%s: %s", jobs[i].id, why.data);
        buffer_free(&why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_revives_for_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_revives_for_a_comment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_settings_are_tried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_revives_for_another_template, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_its_template_can_mend_revives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_template_that_is_there_now_revives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_allowed_waits_for_its_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(enough_capacity_revives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(less_capacity_revives_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_revives_after_a_week, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_of_a_week_ago_is_given_up_although_templates_change,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(being_refused_again_does_not_restart_the_week, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(being_refused_after_the_week_is_for_good, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(whoever_asks_for_a_retry_restarts_the_week, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_was_wrong_keeps_nobody_waiting, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(why_says_what_to_do, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
