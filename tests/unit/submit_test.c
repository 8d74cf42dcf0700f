/* the submit stage: what waits stays in rendered/, says for what, and costs next to nothing
 * meanwhile
 */
#include "base/file.h"
#include "stage_fixture.h"

#include <errno.h>

#include "base/sha256.h"
#include "spool/pause.h"
#include "spool/waiting.h"
#include "stages/lease_line.h"

/* ---- the executor ---- */

static struct {
    bool away;
    enum submit_outcome outcome;
    int asked;     /* submissions */
    int every;     /* of which each so-manieth is put off, alone; 0: none */
    int64_t rest;  /* that is asked for */
    bool repeated; /* the last one */
    char ids[512]; /* accepted, each with a space behind it */
} fake;

static int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    return fake.away ? error_set(problem, "podman does not answer") : 0;
}

static void fake_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(fake.ids);
        fake.asked++;
        fake.repeated = batch[i]->repeated;
        bool off = fake.every && fake.asked % fake.every == 0;
        batch[i]->outcome = off ? SUBMIT_UNAVAILABLE : fake.outcome;
        batch[i]->alone = off;
        batch[i]->rest = off || fake.outcome != SUBMIT_ACCEPTED ? fake.rest : 0;
        batch[i]->note[0] = '\0';
        if (batch[i]->outcome == SUBMIT_ACCEPTED)
            snprintf(fake.ids + length, sizeof(fake.ids) - length, "%s ", batch[i]->id);
        else
            error_set(&batch[i]->error, "the quota of 4 jobs is used up");
    }
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {
    .name = "fake", .ready = fake_ready, .submit = fake_submit, .close = fake_close};

/* ---- jobs ---- */

static const char *put(const char *name, int n)
{
    static char ids[64][ID_SIZE];
    static int next;
    char *id = ids[next++ % 64], digest[SHA256_HEX_SIZE];
    snprintf(id, ID_SIZE, "%s-00000000%05d", name, n);
    sha256_hex(TEXT(""), digest);
    const struct job_record record = {.id = text_of(id),
                                      .owner = TEXT("ann"),
                                      .uid = 1000,
                                      .accepted = now,
                                      .attempt = 1,
                                      .cpus = 1000,
                                      .manifest_sha256 = text_of(digest),
                                      .failure.exit_code = -1};
    put_job(STATE_RENDERED, &record, "2026-01-01T12:00:00.000Z accepted\n", NULL);
    return id;
}

static const char *why_of(const char *id, enum state state)
{
    static char line[512];
    struct buffer why = {0};
    int job = open_job(id, state);
    line[0] = '\0';
    if (file_read_at(job, "why", 1 << 16, &why, NULL) == 0)
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(why.data, "\n"), why.data);
    buffer_free(&why);
    close(job);
    return line;
}

static const char *reason_of(const char *id)
{
    static struct error sentence;
    struct waiting_file waiting;
    waiting_read(&spool, &waiting);
    waiting_reason(&waiting, id, text_of(why_of(id, STATE_RENDERED)), &sentence);
    return sentence.text;
}

static int open_all(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    open_spool(&submit_stage, &operations, 1767268800000);
    write_settings("sync: none\nprobe_interval: 1s\n");
    open_stage();
    return 0;
}

/* ---- declined ---- */

static void what_is_declined_waits_where_it_is(void **state)
{
    (void)state;
    char last[512];
    fake.outcome = SUBMIT_NO_ROOM;
    const char *id = put("one", 1);
    run_round_after(0);
    assert_true(in_state(id, STATE_RENDERED));
    assert_string_equal(why_of(id, STATE_RENDERED),
                        "Waiting for resources: the quota of 4 jobs is used up.");
    assert_int_equal(find_events(id, STATE_RENDERED, "declined", last), 1);
    assert_non_null(strstr(last, "reason=NoRoom"));
    assert_int_equal(find_events(id, STATE_RENDERED, "failed", NULL), 0);

    fake.outcome = SUBMIT_ACCEPTED;
    run_round_after(1001);
    assert_true(in_state(id, STATE_SUBMITTED));
    assert_false(fake.repeated);
    assert_string_equal(why_of(id, STATE_SUBMITTED), "");
}

/* One is the manifest that was rendered, of the other a byte has changed. */
static void a_manifest_that_was_not_rendered_is_not_submitted(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_ACCEPTED;
    const char *sound = put("sound", 1), *damaged = put("damaged", 2);
    int job = open_job(damaged, STATE_RENDERED);
    assert_int_equal(spool_file_renew(job, "manifest.yaml", TEXT("x"), 0644, &error), 0);
    close(job);
    run_round_after(0);
    assert_true(in_state(sound, STATE_SUBMITTED));
    assert_true(in_state(damaged, STATE_FAILED));
    assert_non_null(strstr(why_of(damaged, STATE_FAILED), "manifest.yaml: found SHA-256 "));
}

/* Which days of done/ there are is looked for once in a batch; each job is looked for in them. */
static void a_copy_of_what_is_done_is_set_aside(void **state)
{
    (void)state;
    char command[2 * PATH_MAX + 256];
    fake.outcome = SUBMIT_ACCEPTED;
    const char *fresh = put("fresh", 1), *copy = put("copy", 2), *second = put("second", 3);
    snprintf(
        command, sizeof(command),
        "cd '%s' && mkdir -p done/2026-01-01 done/2025-12-31 && cp -a rendered/%s done/2026-01-01 && "
        "cp -a rendered/%s done/2025-12-31 && "
        "echo 2026-01-01T12:00:01.000Z finished | tee -a done/2026-01-01/%s/log >>done/2025-12-31/%s/log",
        spool.path, copy, second, copy, second);
    assert_int_equal(system(command), 0);
    run_round_after(0);
    assert_true(in_state(fresh, STATE_SUBMITTED));
    assert_false(in_state(copy, STATE_SUBMITTED) || in_state(copy, STATE_RENDERED));
    assert_false(in_state(second, STATE_SUBMITTED) || in_state(second, STATE_RENDERED));
}

/* A day of waiting, a look each second. */
static void the_log_of_one_that_waits_stays_small(void **state)
{
    (void)state;
    static const enum submit_outcome outcomes[] = {SUBMIT_NO_ROOM, SUBMIT_UNAVAILABLE};
    for (int i = 0; i < 2; i++) {
        fake.outcome = outcomes[i];
        fake.asked = 0;
        const char *id = put("long", i + 1);
        for (int second = 0; second < 24 * 3600; second++)
            run_round_after(1000);
        assert_true(in_state(id, STATE_RENDERED));
        int intents = find_events(id, STATE_RENDERED, "intent", NULL);
        assert_int_equal(find_events(id, STATE_RENDERED, "declined", NULL), intents);
        assert_in_range(intents, 50, 200);
        fake.outcome = SUBMIT_ACCEPTED;
        for (int second = 0; second <= 1800 && !in_state(id, STATE_SUBMITTED); second += 10)
            run_round_after(10000);
        assert_true(in_state(id, STATE_SUBMITTED));
    }
}

static int syncs; /* until another daemon has taken over */

static void write_lease(int64_t epoch)
{
    char line[LEASE_TEXT_SIZE];
    lease_line_format(epoch, "unlocked", line);
    assert_int_equal(spool_file_replace(spool.root, ".lease", text_of(line), 0644, &error), 0);
}

static int sync_slowly(int file)
{
    (void)file;
    if (--syncs == 0)
        write_lease(2);
    return 0;
}

/* The outcome is noted and synced, which can take as long as a stop; then the job is the other daemon's. */
static void nothing_moves_after_a_sync_that_was_too_long(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_ACCEPTED;
    write_lease(1);
    stage->epoch = 1;
    stage->spool.sync_mode = SYNC_FILESYSTEM;
    const char *id = put("slow", 1);
    syncs = 2;
    sys.syncfs = sync_slowly;
    advance(0);
    stage_kind->round(stage);
    sys.syncfs = sync_nothing;
    assert_true(syncs <= 0);
    assert_int_equal(fake.asked, 1);
    assert_true(stage->failed);
    assert_true(in_state(id, STATE_RENDERED));
}

static struct system_calls really;

static int sync_but_the_second(int file)
{
    (void)file;
    if (--syncs != 0)
        return 0;
    errno = EIO;
    return -1;
}

static ssize_t list_slowly(int directory, void *entries, size_t length)
{
    advance(2000);
    return really.getdents(directory, entries, length);
}

/* A job whose outcome could not be made durable is in rendered/, and in no queue.  It is asked about again after
 * scan_interval, although scans take so long that the next one would not come before two minutes. */
static void what_could_not_be_moved_is_looked_for(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_ACCEPTED;
    stage->spool.sync_mode = SYNC_FILESYSTEM;
    really = sys;
    sys.getdents = list_slowly;
    sys.syncfs = sync_but_the_second;
    syncs = 2;
    run_round_after(5000);
    const char *id = put("kept", 1);
    run_round_after(0);
    assert_int_equal(fake.asked, 1);
    assert_true(in_state(id, STATE_RENDERED));
    run_round_after(5000);
    assert_true(in_state(id, STATE_SUBMITTED) && fake.repeated);
    sys = really;
}

/* Nothing came of its intent, so it can be killed; of one whose outcome is unknown that is not
 * known. */
static void one_that_waits_can_be_killed(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_NO_ROOM;
    const char *id = put("waits", 1);
    run_round_after(0);
    append_event(id, STATE_RENDERED, "");
    int job = open_job(id, STATE_RENDERED);
    assert_int_equal(
        eventlog_append_to(job, "kill", TEXT("2026-01-01T12:00:00.000Z kill by=ann\n"), &error), 0);
    close(job);
    run_round_after(2000);
    assert_true(in_state(id, STATE_FAILED));
    assert_non_null(strstr(why_of(id, STATE_FAILED), "killed by ann"));
}

static void declined_jobs_do_not_keep_others(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_NO_ROOM;
    for (int i = 1; i <= 40; i++)
        put("many", i);
    run_round_after(0);
    assert_int_equal(fake.asked, 40);
    for (int i = 0; i < 5; i++)
        run_round_after(1000);
    int before = fake.asked;
    run_round_after(1000);
    assert_in_range(fake.asked - before, 1, 8); /* again: a few at a time */
}

/* ---- the executor is away ---- */

static void an_executor_that_is_away_costs_one_file(void **state)
{
    (void)state;
    const char *ids[20];
    fake.away = true;
    for (int i = 0; i < 20; i++)
        ids[i] = put("job", i + 1);
    run_round_after(0);
    for (int i = 0; i < 20; i++) {
        assert_string_equal(reason_of(ids[i]), "Waiting for the executor: podman does not answer.");
        assert_int_equal(find_events(ids[i], STATE_RENDERED, "intent", NULL), 0);
        assert_string_equal(why_of(ids[i], STATE_RENDERED),
                            i ? "" : "Waiting for the executor: podman does not answer.");
    }
    fake.away = false;
    run_round_after(1000);
    for (int i = 0; i < 20; i++)
        assert_true(in_state(ids[i], STATE_SUBMITTED));
    assert_string_equal(why_of(ids[0], STATE_SUBMITTED), "");
    assert_int_not_equal(faccessat(spool.root, "waiting", F_OK, 0), 0);
}

static int submitted(const char *const *ids, int count)
{
    int result = 0;
    for (int i = 0; i < count; i++)
        result += in_state(ids[i], STATE_SUBMITTED);
    return result;
}

/* The others go on, and it comes back after the time that the executor says, and some more. */
static void one_that_is_put_off_delays_no_other(void **state)
{
    (void)state;
    enum { COUNT = 40, EVERY = 10 };
    const char *ids[COUNT];
    close_stage();
    write_settings("sync: none\nprobe_interval: 1h\n");
    open_stage();
    fake.every = EVERY;
    fake.rest = 4000;
    for (int i = 0; i < COUNT; i++)
        ids[i] = put("off", i);
    run_round_after(0);
    assert_int_equal(fake.asked, COUNT);
    assert_int_equal(submitted(ids, COUNT), COUNT - COUNT / EVERY);
    fake.every = 0;
    const char *later = put("later", 1);
    run_round_after(1);
    assert_true(in_state(later, STATE_SUBMITTED));
    run_round_after(fake.rest - 2);
    assert_int_equal(fake.asked, COUNT + 1);
    run_round_after(1 + fake.rest / 4);
    assert_int_equal(fake.asked, COUNT + 1 + COUNT / EVERY);
    assert_int_equal(submitted(ids, COUNT), COUNT);
}

/* All wait, but no longer than it says. */
static void an_executor_says_how_long_it_is_away(void **state)
{
    (void)state;
    close_stage();
    write_settings("sync: none\nprobe_interval: 1h\n");
    open_stage();
    fake.outcome = SUBMIT_UNAVAILABLE;
    fake.rest = 4000;
    const char *id = put("all", 1);
    run_round_after(0);
    const char *other = put("all", 2);
    run_round_after(fake.rest - 1);
    assert_int_equal(fake.asked, 1);
    fake.outcome = SUBMIT_ACCEPTED;
    run_round_after(1 + fake.rest / 4);
    run_round_after(fake.rest / 4);
    assert_true(in_state(id, STATE_SUBMITTED) && in_state(other, STATE_SUBMITTED));
}

/* One that the executor may have is asked about again no sooner than it says. */
static void an_unknown_one_is_asked_about_when_the_executor_says(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_UNKNOWN;
    fake.rest = 8000;
    const char *id = put("unsure", 1);
    run_round_after(0);
    run_round_after(fake.rest - 1);
    assert_int_equal(fake.asked, 1);
    fake.outcome = SUBMIT_ACCEPTED;
    run_round_after(1 + fake.rest / 4);
    assert_true(in_state(id, STATE_SUBMITTED));
}

/* ---- a limit ---- */

static void a_limit_is_named_and_who_is_behind(void **state)
{
    (void)state;
    close_stage();
    fake_executor.live_max = 1;
    open_stage();
    const char *first = put("a", 1), *second = put("b", 2), *third = put("c", 3);
    run_round_after(0);
    assert_true(in_state(first, STATE_SUBMITTED));
    assert_string_equal(why_of(second, STATE_RENDERED),
                        "Waiting for a limit: 1 objects at the scheduler at most (live_max in "
                        "dlspool.yaml).");
    assert_string_equal(reason_of(third),
                        "Waiting for its turn: behind b-0000000000002, which waits for a limit.");
    /* Nothing is written while nothing changes; and a stage that is started again knows who it was.
     */
    struct stat before, after;
    assert_int_equal(fstatat(spool.root, "waiting", &before, 0), 0);
    close_stage();
    open_stage();
    run_round_after(1000);
    assert_int_equal(fstatat(spool.root, "waiting", &after, 0), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    fake_executor.live_max = 2;
    run_round_after(1000);
    assert_true(in_state(second, STATE_SUBMITTED));
    assert_string_equal(why_of(second, STATE_SUBMITTED), "");
    assert_string_equal(reason_of(third),
                        "Waiting for a limit: 2 objects at the scheduler at most (live_max in "
                        "dlspool.yaml).");
}

static void pause_spool(bool paused)
{
    const struct pause pause = {.by = "root", .since = now, .reason = "the file server moves"};
    assert_int_equal(paused ? pause_write(&spool, &pause, &error) : pause_remove(&spool, &error),
                     0);
}

static void a_paused_spool_starts_nothing(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_ACCEPTED;
    const char *first = put("one", 1);
    pause_spool(true);
    run_round_after(0);
    const char *second = put("two", 2);
    run_round_after(6000);
    assert_int_equal(fake.asked, 0);
    static const char told[] =
        "The spool is paused by root since 2026-01-01T12:00:00.000Z: the file server moves.";
    assert_string_equal(why_of(first, STATE_RENDERED), told);
    assert_string_equal(reason_of(second), told);
    /* Not even after a restart. */
    close_stage();
    open_stage();
    run_round_after(6000);
    assert_int_equal(fake.asked, 0);
    pause_spool(false);
    run_round_after(1000);
    assert_true(in_state(first, STATE_SUBMITTED) && in_state(second, STATE_SUBMITTED));
    assert_string_equal(why_of(first, STATE_SUBMITTED), "");
}

/* What the executor may have runs perhaps, so it must be followed. */
static void a_paused_spool_asks_about_what_may_run(void **state)
{
    (void)state;
    fake.outcome = SUBMIT_UNKNOWN;
    const char *unknown = put("unknown", 1);
    run_round_after(0);
    assert_int_equal(fake.asked, 1);
    const char *other = put("other", 2);
    pause_spool(true);
    close_stage();
    open_stage();
    fake.outcome = SUBMIT_ACCEPTED;
    run_round_after(6000);
    assert_true(in_state(unknown, STATE_SUBMITTED));
    assert_true(in_state(other, STATE_RENDERED));
    assert_true(fake.repeated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_paused_spool_starts_nothing, open_all, close_spool),
        cmocka_unit_test_setup_teardown(a_paused_spool_asks_about_what_may_run, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(what_is_declined_waits_where_it_is, open_all, close_spool),
        cmocka_unit_test_setup_teardown(a_copy_of_what_is_done_is_set_aside, open_all, close_spool),
        cmocka_unit_test_setup_teardown(a_manifest_that_was_not_rendered_is_not_submitted, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(the_log_of_one_that_waits_stays_small, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(what_could_not_be_moved_is_looked_for, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(nothing_moves_after_a_sync_that_was_too_long, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(one_that_waits_can_be_killed, open_all, close_spool),
        cmocka_unit_test_setup_teardown(declined_jobs_do_not_keep_others, open_all, close_spool),
        cmocka_unit_test_setup_teardown(an_executor_that_is_away_costs_one_file, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(one_that_is_put_off_delays_no_other, open_all, close_spool),
        cmocka_unit_test_setup_teardown(an_executor_says_how_long_it_is_away, open_all,
                                        close_spool),
        cmocka_unit_test_setup_teardown(an_unknown_one_is_asked_about_when_the_executor_says,
                                        open_all, close_spool),
        cmocka_unit_test_setup_teardown(a_limit_is_named_and_who_is_behind, open_all, close_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
