/* tests/unit/submit_fates_test.c - how far a job of rendered/ got, and what happens to it then: every
 * pair of them through the submit stage
 *
 * Whatever a job lacks or has left over from before, the stage goes on, the scheduler is given no
 * attempt twice that it has taken, and the job leaves rendered/ for where it belongs, with a reason.
 * Each pair is tried for a job with nothing special, one with a deadline, one with sizes and an array;
 * with an executor that has a queue, one that starts what there is room for, and one that wants to hold
 * a number of objects only.
 */
#include "base/file.h"
#include "tests/unit/stage_fixture.h"

#include "base/sha256.h"
#include "stages/shared/control.h"

static const int64_t noon = 1767268801000; /* 2026-01-01 */

enum far {
    FAR_RENDERED,
    FAR_DECLINED,       /* there was no room for it */
    FAR_INTENT,         /* the stage ended before it had an answer, */
    FAR_SUBMITTED,      /* ... before it moved the job, */
    FAR_FAILED,         /* ... or before it moved one that was refused */
    FAR_SECOND_ATTEMPT, /* it ran before, and has measured progress */
    FAR_NO_LOG,
    FAR_DAMAGED_LOG,
    FAR_WHY_IN_THE_WAY,
    FAR_NO_RECORD,
    FAR_DAMAGED_RECORD,
    FAR_RECORD_OF_ANOTHER,
    FAR_NO_MANIFEST,
    FAR_DAMAGED_MANIFEST,
    FARS
};

enum then {
    THEN_ACCEPTED,
    THEN_NO_ROOM,
    THEN_UNAVAILABLE,
    THEN_UNKNOWN,
    THEN_AWAY, /* and accepted later */
    THEN_NEVER_FITS,
    THEN_REFUSED,
    THEN_REFUSED_UNSURE,
    THEN_KILLED,
    THEN_HELD,
    THEN_RESTARTED,
    THEN_REMOVED, /* somebody removes its directory */
    THENS
};

enum kind { KIND_PLAIN, KIND_DEADLINE, KIND_SIZED, KIND_ARRAY };
enum site { SITE_QUEUE, SITE_MACHINE, SITE_LIMIT };

/* ---- the executor ---- */

static struct {
    enum submit_outcome outcome;
    bool away, unsure;
    bool accepted[FARS];
    int then; /* a part of the jobs' ids */
} fake;

static int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    return fake.away ? error_set(problem, "it is away") : 0;
}

static int far_of(const char *id)
{
    return atoi(strchr(id, '-') + 1) % 100;
}

static void fake_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        int far = far_of(batch[i]->id);
        assert_int_equal(batch[i]->attempt, far == FAR_SECOND_ATTEMPT ? 2 : 1);
        if (fake.accepted[far] && !batch[i]->repeated)
            fail_msg("far %d: it is submitted twice", far);
        batch[i]->outcome = fake.accepted[far] ? SUBMIT_ACCEPTED : fake.outcome;
        batch[i]->unsettled = fake.unsure && batch[i]->repeated;
        if (batch[i]->outcome != SUBMIT_ACCEPTED)
            error_set(&batch[i]->error, "the test says so");
        fake.accepted[far] = batch[i]->outcome == SUBMIT_ACCEPTED;
    }
}

static int fake_capacity(struct executor *executor, struct capacity *capacity,
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

static int fake_needs(struct executor *executor, struct text manifest, struct demand *demand)
{
    (void)executor;
    (void)manifest;
    (void)demand;
    return -1;
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

/* ---- a job, how far it got ---- */

static const char *name_job(int far)
{
    static char id[ID_SIZE];
    snprintf(id, sizeof(id), "job-%013d", fake.then * 100 + far);
    return id;
}

static const char *const logs[FARS] = {
    [FAR_DECLINED] = "2026-01-01T12:00:00.000Z intent attempt=1\n"
                     "2026-01-01T12:00:00.000Z declined attempt=1 reason=NoRoom\n",
    [FAR_INTENT] = "2026-01-01T12:00:00.000Z intent attempt=1\n",
    [FAR_SUBMITTED] = "2026-01-01T12:00:00.000Z intent attempt=1\n"
                      "2026-01-01T12:00:00.000Z submitted attempt=1\n",
    [FAR_FAILED] = "2026-01-01T12:00:00.000Z intent attempt=1\n"
                   "2026-01-01T12:00:00.000Z failed reason=Refused class=permanent\n",
    [FAR_SECOND_ATTEMPT] = "2026-01-01T12:00:00.000Z intent attempt=1\n"
                           "2026-01-01T12:00:00.000Z submitted attempt=1\n"
                           "2026-01-01T12:00:00.000Z failed reason=Exited class=transient\n"
                           "2026-01-01T12:00:00.000Z requeued cause=time attempt=2\n",
};

static void take_kind(struct job_record *record, enum kind kind)
{
    if (kind == KIND_DEADLINE) {
        record->deadline = noon + 3600000;
        record->deadline_mode = TEXT("count");
    }
    if (kind == KIND_ARRAY)
        record->array = TEXT("0-3");
    if (kind == KIND_SIZED) {
        record->sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 1000};
        record->size = record->size_asked = 1000;
    }
}

static void spoil(const char *id, enum far far)
{
    int job = open_job(id, STATE_RENDERED);
    if (far == FAR_NO_LOG)
        unlinkat(job, "log", 0);
    if (far == FAR_DAMAGED_LOG)
        write_into(job, "log", "this is no event\n\xff\xfe");
    if (far == FAR_WHY_IN_THE_WAY)
        assert_int_equal(mkdirat(job, "why", 0755), 0);
    if (far == FAR_NO_RECORD)
        unlinkat(job, "job.yaml", 0);
    if (far == FAR_DAMAGED_RECORD)
        write_into(job, "job.yaml", "id: [");
    if (far == FAR_NO_MANIFEST)
        unlinkat(job, "manifest.yaml", 0);
    if (far == FAR_DAMAGED_MANIFEST)
        write_into(job, "manifest.yaml", "another");
    close(job);
}

static void put(enum kind kind, enum far far)
{
    char digest[SHA256_HEX_SIZE], log[1024];
    const char *id = name_job(far);
    struct progress before = {.attempt = 1,
                              .size = 1000,
                              .started = noon,
                              .since = noon,
                              .unit = noon,
                              .done = 3,
                              .most = 3,
                              .total = 10,
                              .rate = 1,
                              .start_up = -1,
                              .restart = -1,
                              .time = noon};
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .request_file = TEXT("request.yaml"),
                                .executor = TEXT("local"),
                                .cpus = 1000,
                                .retries = 1,
                                .failure.exit_code = -1,
                                .attempt = far == FAR_SECOND_ATTEMPT ? 2 : 1,
                                .failed = far == FAR_FAILED};
    sha256_hex(TEXT(""), digest);
    record.manifest_sha256 = text_of(digest);
    if (far == FAR_FAILED)
        record.failure = (struct failure){
            .reason = TEXT("Refused"), .class = TEXT("permanent"), .failed = noon, .exit_code = -1};
    take_kind(&record, kind);
    snprintf(log, sizeof(log), "2026-01-01T12:00:00.000Z accepted file=x owner=ann uid=1000\n%s",
             logs[far] ? logs[far] : "");
    fake.accepted[far] = far == FAR_SUBMITTED;
    put_job(STATE_RENDERED, &record, log, far == FAR_SECOND_ATTEMPT ? &before : NULL);
    if (far == FAR_RECORD_OF_ANOTHER) {
        int job = open_job(id, STATE_RENDERED);
        record.id = TEXT("other-0000000000001");
        assert_int_equal(record_replace(job, &record, &error), 0);
        close(job);
    }
    spoil(id, far);
}

/* ---- what happens to it then ---- */

static void ask_for(enum control_verb verb)
{
    for (int far = 0; far < FARS; far++) {
        int job = look_for_job(name_job(far), STATE_RENDERED);
        if (job < 0)
            continue;
        assert_int_equal(control_file_write(job, verb, TEXT("ann"), 1000, now, &error), 0);
        close(job);
    }
}

static void remove_all(void)
{
    char command[512];
    snprintf(command, sizeof(command), "rm -rf '%s'/rendered/job-*", path);
    assert_int_equal(system(command), 0);
}

static void happen(enum then then)
{
    static const enum submit_outcome outcomes[THENS] = {
        [THEN_ACCEPTED] = SUBMIT_ACCEPTED,       [THEN_NO_ROOM] = SUBMIT_NO_ROOM,
        [THEN_UNAVAILABLE] = SUBMIT_UNAVAILABLE, [THEN_UNKNOWN] = SUBMIT_UNKNOWN,
        [THEN_AWAY] = SUBMIT_ACCEPTED,           [THEN_NEVER_FITS] = SUBMIT_NEVER_FITS,
        [THEN_REFUSED] = SUBMIT_REFUSED,         [THEN_REFUSED_UNSURE] = SUBMIT_REFUSED,
        [THEN_KILLED] = SUBMIT_NO_ROOM,          [THEN_HELD] = SUBMIT_NO_ROOM,
        [THEN_RESTARTED] = SUBMIT_UNKNOWN,       [THEN_REMOVED] = SUBMIT_NO_ROOM};
    fake.outcome = outcomes[then];
    fake.away = then == THEN_AWAY;
    fake.unsure = then == THEN_REFUSED_UNSURE;
    open_stage();
    /* What is over an owner's share of the limit has its turn in a later plan. */
    for (int i = 0; i < (fake_executor.live_max ? 30 : 5); i++)
        run_round_after(1000);
    if (then == THEN_RESTARTED) {
        close_stage();
        open_stage();
    }
    if (then == THEN_REMOVED)
        remove_all();
    if (then == THEN_KILLED || then == THEN_HELD) {
        ask_for(then == THEN_KILLED ? CONTROL_KILL : CONTROL_HOLD);
        return;
    }
    fake.away = false;
    if (then != THEN_NEVER_FITS && then != THEN_REFUSED)
        fake.outcome = SUBMIT_ACCEPTED;
}

/* ---- where it belongs ---- */

static enum state home_of(enum far far, enum then then)
{
    if (far >= FAR_NO_RECORD)
        return STATE_FAILED;
    if (far == FAR_SUBMITTED)
        return STATE_SUBMITTED;
    switch (then) {
    case THEN_NEVER_FITS:
    case THEN_REFUSED:
    case THEN_KILLED:
        return STATE_FAILED;
    case THEN_REFUSED_UNSURE: /* only one that may be there is asked about again */
        return far == FAR_INTENT || far == FAR_NO_LOG ? STATE_SUBMITTED : STATE_FAILED;
    case THEN_HELD:
        return STATE_HELD;
    default:
        return STATE_SUBMITTED;
    }
}

/* What runs ends, so that there is room below the limit. */
static void end_all(void)
{
    for (int far = 0; far < FARS; far++) {
        struct job_place place = {.state = STATE_SUBMITTED};
        snprintf(place.id, sizeof(place.id), "%s", name_job(far));
        if (in_state(place.id, STATE_SUBMITTED))
            assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    }
}

static void expect_home(enum kind kind, enum far far, enum then then)
{
    char last[512];
    const char *id = name_job(far);
    enum state home = home_of(far, then);
    enum state at = home == STATE_SUBMITTED && in_state(id, STATE_DONE) ? STATE_DONE : home;
    if (!in_state(id, at))
        fail_msg("kind %d, far %d, then %d: it is not in %s/", kind, far, then,
                 spool_state_name(home));
    assert_true(find_events(id, at, spool_state_name(home), last) >= 1);
    if (home == STATE_SUBMITTED) {
        assert_true(fake.accepted[far]);
        return;
    }
    int job = open_job(id, home);
    struct buffer why = {0};
    if (file_read_at(job, "why", 1 << 16, &why, &error) || !strstr(why.data, "\n\nNext: "))
        fail_msg("kind %d, far %d, then %d: there is no why", kind, far, then);
    buffer_free(&why);
    close(job);
    assert_true(home == STATE_HELD || strstr(last, "reason="));
}

static bool is_any_left(void)
{
    for (int far = 0; far < FARS; far++)
        if (in_state(name_job(far), STATE_RENDERED))
            return true;
    return false;
}

static void each_pair(enum site site, enum kind kind)
{
    const struct executor_operations operations = {.name = "local",
                                                   .ready = fake_ready,
                                                   .submit = fake_submit,
                                                   .capacity = fake_capacity,
                                                   .needs =
                                                       site == SITE_MACHINE ? fake_needs : NULL,
                                                   .close = fake_close};
    open_spool(&submit_stage, &operations, noon);
    write_settings("executor: local\nsync: none\nprobe_interval: 1s\n");
    fake_executor.live_max = site == SITE_LIMIT ? FARS / 2 : 0;
    for (int then = 0; then < THENS; then++) {
        memset(&fake, 0, sizeof(fake));
        fake.then = then;
        for (int far = 0; far < FARS; far++)
            put(kind, (enum far)far);
        happen((enum then)then);
        for (int i = 0; i < 90 && is_any_left(); i++) {
            run_round_after(1000);
            if (site == SITE_LIMIT)
                end_all();
        }
        for (int far = 0; far < FARS && then != THEN_REMOVED; far++)
            expect_home(kind, (enum far)far, (enum then)then);
        assert_false(is_any_left());
        end_all();
        close_stage();
    }
    close_spool(NULL);
}

static void each_kind(enum site site)
{
    for (int kind = KIND_PLAIN; kind <= KIND_ARRAY; kind++)
        each_pair(site, (enum kind)kind);
}

static void with_a_queue(void **state)
{
    (void)state;
    each_kind(SITE_QUEUE);
}
static void with_what_there_is_room_for(void **state)
{
    (void)state;
    each_kind(SITE_MACHINE);
}
static void with_so_many_objects(void **state)
{
    (void)state;
    each_kind(SITE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_queue),
        cmocka_unit_test(with_what_there_is_room_for),
        cmocka_unit_test(with_so_many_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
