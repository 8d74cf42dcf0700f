/* tests/unit/resubmit_fates_test.c - how far a job of failed/ got, and what happens to it then:
 * every pair of them through the resubmit stage
 *
 * Whatever a job lacks because it never was rendered, never ran or lost a file, the stage goes on; the
 * job goes back to rendered/ when its time or reason has come, and otherwise stays, or ends, with a
 * reason.  Each pair is tried for each thing that a failed job waits for.
 */
#include "base/file.h"
#include "tests/unit/scratch_repository.h"
#include "tests/unit/stage_fixture.h"

#include "base/sha256.h"
#include "stages/prepare/prepare.h"
#include "stages/shared/control.h"

#define REQUEST "name: a\nlibrary: any\ntype: single\nscript: 'true'\n"
#define TEMPLATE "{cpus: {$eval: 'job.roles[0].cpus'}, script: '${job.script}'}\n"

static const int64_t start = 1767225600000, hour = 3600000;

enum far {
    FAR_NOT_RENDERED, /* there was no template */
    FAR_REFUSED,      /* the executor did not take it */
    FAR_NEVER_STARTED,
    FAR_RAN, /* and has measured progress */
    FAR_SECOND_ATTEMPT,
    FAR_NO_LOG,
    FAR_DAMAGED_LOG,
    FAR_NO_MANIFEST,
    FAR_DAMAGED_PROGRESS,
    FAR_WHY_IN_THE_WAY,
    FAR_NO_REQUEST,
    FAR_DAMAGED_REQUEST,
    FAR_NO_RECORD,
    FAR_DAMAGED_RECORD,
    FAR_RECORD_OF_ANOTHER,
    FAR_NOT_FAILED, /* its record does not say that it has failed */
    FARS
};

enum then {
    THEN_LATER, /* an hour passes */
    THEN_RESTARTED,
    THEN_AWAY, /* the same, and dlspool, or the executor, was away meanwhile */
    THEN_ASKED,
    THEN_KILLED,
    THEN_HELD,
    THEN_CHANGED,
    THEN_REMOVED, /* somebody removes its directory */
    THENS
};

enum { WHENS = RETRY_CHANGE + 1 };

static struct scratch templates;
static bool away;
static char settings_digest[SHA256_HEX_SIZE], commit_now[48];
static int then_now; /* a part of the jobs' ids */

/* ---- the executor ---- */

static int be_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    return away ? error_set(problem, "it is away") : 0;
}

static int tell_capacity(struct executor *executor, struct capacity *capacity,
                         struct error *problem)
{
    (void)executor;
    (void)problem;
    *capacity = (struct capacity){.cpus = 1000000,
                                  .cpus_free = 1000000,
                                  .memory = (int64_t)1 << 50,
                                  .memory_free = (int64_t)1 << 50};
    return 0;
}

static void close_nothing(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {
    .name = "local", .ready = be_ready, .capacity = tell_capacity, .close = close_nothing};

/* ---- a job, how far it got ---- */

static const char *name_job(int far, int when)
{
    static char id[ID_SIZE];
    snprintf(id, sizeof(id), "job-%013d", then_now * 10000 + when * 100 + far);
    return id;
}

static const char *const logs[FARS] = {
    [FAR_REFUSED] = "2026-01-01T00:00:00.000Z intent attempt=1\n",
    [FAR_NEVER_STARTED] = "2026-01-01T00:00:00.000Z intent attempt=1\n"
                          "2026-01-01T00:00:00.000Z submitted attempt=1\n",
    [FAR_RAN] = "2026-01-01T00:00:00.000Z intent attempt=1\n"
                "2026-01-01T00:00:00.000Z submitted attempt=1\n"
                "2026-01-01T00:00:00.000Z started attempt=1\n"
                "2026-01-01T00:00:00.000Z ended attempt=1\n",
    [FAR_SECOND_ATTEMPT] = "2026-01-01T00:00:00.000Z intent attempt=2\n"
                           "2026-01-01T00:00:00.000Z submitted attempt=2\n",
};

static void write_log(int job, enum far far)
{
    struct buffer log = {0};
    buffer_add_string(&log, "2026-01-01T00:00:00.000Z accepted file=a owner=ann uid=1000\n");
    buffer_add_string(&log, logs[far] ? logs[far] : "");
    buffer_add_string(&log, "2026-01-01T00:00:00.000Z failed reason=Exited class=transient\n");
    assert_int_equal(spool_file_create(job, "log", buffer_text(&log), 0644, &error), 0);
    buffer_free(&log);
}

static void spoil(int job, enum far far, struct job_record *record)
{
    if (far == FAR_NO_LOG)
        unlinkat(job, "log", 0);
    if (far == FAR_DAMAGED_LOG)
        write_into(job, "log", "this is no event\n\xff\xfe");
    if (far == FAR_NO_MANIFEST || far == FAR_NOT_RENDERED)
        unlinkat(job, "manifest.yaml", 0);
    if (far == FAR_DAMAGED_PROGRESS)
        write_into(job, "progress", "attempt: [");
    if (far == FAR_NO_REQUEST)
        unlinkat(job, "request.yaml", 0);
    if (far == FAR_DAMAGED_REQUEST)
        write_into(job, "request.yaml", "name: [");
    if (far == FAR_NO_RECORD)
        unlinkat(job, "job.yaml", 0);
    if (far == FAR_DAMAGED_RECORD)
        write_into(job, "job.yaml", "id: [");
    if (far == FAR_WHY_IN_THE_WAY) {
        unlinkat(job, "why", 0);
        assert_int_equal(mkdirat(job, "why", 0755), 0);
    }
    if (far == FAR_RECORD_OF_ANOTHER) {
        record->id = TEXT("other-0000000000001");
        assert_int_equal(record_replace(job, record, &error), 0);
    }
}

/* Those that the executor had; what of them has its token is not to be taken up again. */
static bool was_submitted(enum far far)
{
    return far != FAR_NOT_RENDERED && far != FAR_REFUSED && far != FAR_NOT_FAILED;
}

/* Each is due in half an hour. */
static void put(enum far far, enum retry_when when)
{
    char digest[SHA256_HEX_SIZE], empty[SHA256_HEX_SIZE];
    char id[ID_SIZE];
    struct progress before = {.attempt = 1,
                              .size = 1000,
                              .started = start,
                              .since = start,
                              .unit = start,
                              .done = 3,
                              .most = 3,
                              .total = 10,
                              .rate = 1,
                              .start_up = -1,
                              .restart = -1,
                              .time = start};
    snprintf(id, sizeof(id), "%s", name_job(far, when));
    sha256_hex(TEXT(REQUEST), digest);
    sha256_hex(TEXT(""), empty);
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .source = TEXT("a.yaml"),
                                .request_file = TEXT("request.yaml"),
                                .type = TEXT("single"),
                                .request_sha256 = text_of(digest),
                                .executor = TEXT("local"),
                                .cpus = 1000,
                                .retries = 1,
                                .attempt = far == FAR_NOT_RENDERED     ? 0
                                           : far == FAR_SECOND_ATTEMPT ? 2
                                                                       : 1,
                                .manifest_sha256 =
                                    far == FAR_NOT_RENDERED ? TEXT("") : text_of(empty),
                                .commit = far == FAR_NOT_RENDERED ? TEXT("") : text_of(commit_now),
                                .failed = far != FAR_NOT_FAILED};
    record.failure =
        (struct failure){.when = when,
                         .reason = TEXT("Exited"),
                         .class = TEXT("transient"),
                         .failed = now,
                         .next = when == RETRY_NEVER || when == RETRY_CHANGE ? 0 : now + hour / 2,
                         .delay = when == RETRY_NEVER || when == RETRY_CHANGE ? 0 : hour / 2,
                         .commit = text_of(commit_now),
                         .settings = text_of(settings_digest),
                         .exit_code = -1};
    if (was_submitted(far) && far != FAR_NEVER_STARTED)
        record.failure.exit_code = 1;
    if (far == FAR_NOT_FAILED)
        record.failure = (struct failure){.exit_code = -1};
    int job = job_create(&spool, id, &error);
    assert_int_equal(record_create(job, &record, &error), 0);
    assert_int_equal(
        spool_file_create_private(job, "request.yaml", TEXT(REQUEST), (gid_t)-1, &error), 0);
    assert_int_equal(spool_file_create(job, "manifest.yaml", TEXT(""), 0644, &error), 0);
    assert_int_equal(
        spool_file_create(job, "why", TEXT("It failed.\n\nNext: nothing.\n"), 0644, &error), 0);
    write_log(job, far);
    if (far == FAR_RAN || far == FAR_SECOND_ATTEMPT)
        assert_int_equal(progress_file_write(job, &before, &error), 0);
    spoil(job, far, &record);
    close(job);
    assert_int_equal(job_publish(&spool, id, STATE_FAILED, &error), 0);
}

/* ---- what happens to it then ---- */

static void ask_for(enum control_verb verb)
{
    for (int far = 0; far < FARS; far++)
        for (int when = 0; when < WHENS; when++) {
            int job = open_job(name_job(far, when), STATE_FAILED);
            assert_int_equal(control_file_write(job, verb, TEXT("ann"), 1000, now, &error), 0);
            struct job_place place = {.state = STATE_FAILED};
            job_notify(&spool, &place, job);
            close(job);
        }
}

static void happen(enum then then)
{
    char command[512];
    open_stage();
    run_round_after(2000);
    switch (then) {
    case THEN_AWAY:
        away = true;
        run_round_after(hour);
        run_round_after(2000);
        away = false;
        break;
    case THEN_RESTARTED:
        close_stage();
        advance(hour);
        open_stage();
        break;
    case THEN_LATER:
        run_round_after(hour);
        break;
    case THEN_ASKED:
        ask_for(CONTROL_RETRY);
        break;
    case THEN_KILLED:
        ask_for(CONTROL_KILL);
        break;
    case THEN_HELD:
        ask_for(CONTROL_HOLD);
        break;
    case THEN_CHANGED:
        scratch_put(&templates, "local/any/single.yaml", TEMPLATE "# changed\n");
        scratch_commit(&templates);
        break;
    case THEN_REMOVED:
        snprintf(command, sizeof(command), "rm -rf '%s'/failed/job-*", path);
        assert_int_equal(system(command), 0);
        break;
    case THENS:
        break;
    }
    for (int i = 0; i < 4; i++)
        run_round_after(2000);
}

/* ---- where it belongs ---- */

static enum state home_of(enum far far, int when, enum then then)
{
    bool timed = when == RETRY_AT || when == RETRY_ROOM || when == RETRY_EXECUTOR;
    if (far >= FAR_NO_REQUEST && !(far == FAR_NOT_FAILED && then == THEN_ASKED))
        return STATE_FAILED;
    switch (then) {
    case THEN_LATER:
    case THEN_RESTARTED:
    case THEN_AWAY:
        return timed ? STATE_RENDERED : STATE_FAILED;
    case THEN_ASKED:
        return STATE_RENDERED;
    case THEN_HELD:
        return timed ? STATE_HELD : STATE_FAILED;
    case THEN_CHANGED:
        return when == RETRY_CHANGE ? STATE_RENDERED : STATE_FAILED;
    default:
        return STATE_FAILED;
    }
}

static void expect_record(int job, enum far far, int when, enum then then, enum state home)
{
    struct job_record record;
    struct arena *arena = arena_new();
    if (record_read(job, arena, &record, &error))
        fail_msg("far %d, when %d, then %d: %s", far, when, then, error.text);
    if (home == STATE_FAILED && !record.failed)
        fail_msg("far %d, when %d, then %d: it has not failed", far, when, then);
    if (home == STATE_RENDERED)
        if (record.attempt != (far == FAR_SECOND_ATTEMPT ? 3 : was_submitted(far) ? 2 : 1))
            fail_msg("far %d, when %d, then %d: attempt %d", far, when, then, record.attempt);
    if (home == STATE_FAILED && far >= FAR_NO_RECORD)
        assert_true(text_is(record.failure.reason, "DamagedRecord"));
    else if (then == THEN_KILLED && when != RETRY_NEVER)
        assert_true(text_is(record.failure.reason, "Killed"));
    arena_free(arena);
}

static void expect_home(enum far far, int when, enum then then)
{
    const char *id = name_job(far, when);
    enum state home = home_of(far, when, then);
    struct buffer text = {0};
    if (!in_state(id, home))
        fail_msg("far %d, when %d, then %d: it is not in %s/", far, when, then,
                 spool_state_name(home));
    int job = open_job(id, home);
    expect_record(job, far, when, then, home);
    bool untouched = far == FAR_WHY_IN_THE_WAY && home == STATE_FAILED;
    if (home == STATE_RENDERED)
        assert_int_equal(file_read_at(job, "manifest.yaml", 1 << 16, &text, &error), 0);
    else if (!untouched &&
             (file_read_at(job, "why", 1 << 16, &text, &error) || !strstr(text.data, "\n\nNext: ")))
        fail_msg("far %d, when %d, then %d: there is no why", far, when, then);
    buffer_free(&text);
    close(job);
}

static void set_up_templates(void)
{
    char repository_path[4096];
    struct settings settings;
    write_settings("executor: local\nsync: none\nretry_interval: 1s\nprobe_interval: 1s\n");
    assert_int_equal(settings_read(&settings, &spool, &error), 0);
    memcpy(settings_digest, settings.sha256, sizeof(settings_digest));
    settings_free(&settings);
    scratch_open(&templates);
    scratch_put(&templates, "local/any/single.yaml", TEMPLATE);
    scratch_put(&templates, "images.txt", "any * * * host\n");
    scratch_put(&templates, "site.yaml", "images: {allow_user: false}\n");
    scratch_commit(&templates);
    snprintf(repository_path, sizeof(repository_path), "%s/templates.git", path);
    assert_int_equal(rename(templates.path, repository_path), 0);
    git_repository_free(templates.git);
    assert_int_equal(git_repository_open(&templates.git, repository_path), 0);
    struct repository *repository = repository_open(repository_path, "HEAD", &error);
    assert_int_equal(repository_refresh(repository, &error), 0);
    snprintf(commit_now, sizeof(commit_now), "%s", repository_commit(repository));
    repository_close(repository);
}

static void each_pair(void **state)
{
    (void)state;
    open_spool(&resubmit_stage, &operations, start);
    set_up_templates();
    for (int then = 0; then < THENS; then++) {
        away = false;
        then_now = then;
        for (int far = 0; far < FARS; far++)
            for (int when = 0; when < WHENS; when++)
                put((enum far)far, (enum retry_when)when);
        happen((enum then)then);
        for (int far = 0; far < FARS && then != THEN_REMOVED; far++)
            for (int when = 0; when < WHENS; when++)
                expect_home((enum far)far, when, (enum then)then);
        close_stage();
    }
    scratch_close(&templates);
    close_spool(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
