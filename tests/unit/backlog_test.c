/* tests/unit/backlog_test.c - how many jobs of a user wait, and who is over the limit
 *
 * Seen to fail with: tests/mutants/backlog-*.patch.
 */
#include "stage_fixture.h"

#include <errno.h>

#include "spool/usage.h"
#include "stages/intake/backlog.h"

enum { ANN = 1001, BOB = 1002, BOSS = 1003 };
enum { HOUR = 3600000 };

static struct stage own;
static struct backlog *backlog;
static int count; /* of this test's jobs */

static void put(enum state state, uid_t uid, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "job-%013d", ++count);
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("somebody"),
                                .uid = uid,
                                .request_file = TEXT("request.yaml"),
                                .attempt = 1,
                                .failure.exit_code = -1};
    put_job(state, &record, "", NULL);
}

static void leave(const char *id, enum state from)
{
    struct job_place place = {.state = from};
    snprintf(place.id, sizeof(place.id), "%s", id);
    assert_int_equal(job_move(&spool, &place, STATE_SUBMITTED, now, &error), 0);
}

static struct job_record job_of(uid_t uid)
{
    static char name[16];
    snprintf(name, sizeof(name), "%u", (unsigned int)uid);
    return (struct job_record){
        .uid = uid, .owner = text_of(name), .queue = TEXT(""), .gpu_type = TEXT("")};
}

static void add(const char *id, uid_t uid)
{
    const struct job_record record = job_of(uid);
    backlog_add(backlog, id, &record);
}

static bool full(uid_t uid)
{
    const struct job_record record = job_of(uid);
    error.text[0] = '\0';
    bool result = backlog_ask(backlog, &record, &error) == BACKLOG_FULL;
    assert_int_equal(result, error.text[0] != '\0');
    return result;
}

static int open_backlog(void **state)
{
    (void)state;
    count = 0;
    open_spool(NULL, NULL, 1777658400000);
    write_settings("administrators: [1003]\nlimits: {waiting: 3}\n");
    assert_int_equal(stage_open(&own, "intake", path, &error), 0);
    backlog = backlog_new(&own);
    assert_non_null(backlog);
    backlog_begin(backlog);
    return 0;
}

static int close_backlog(void **state)
{
    backlog_free(backlog);
    stage_close(&own);
    return close_spool(state);
}

static void what_waits_at_the_start_counts(void **state)
{
    char id[ID_SIZE];
    (void)state;
    put(STATE_RENDERED, ANN, id);
    put(STATE_HELD, ANN, id);
    put(STATE_FAILED, ANN, id);
    put(STATE_SUBMITTED, ANN, id);
    assert_false(full(ANN));
    add("new-0000000000001", ANN);
    assert_true(full(ANN));
    assert_non_null(strstr(error.text,
                           "3 jobs of 1001 wait already, and no more may (limits.waiting of "
                           "dlspool.yaml, which an administrator can change)"));
    assert_false(full(BOB));
}

static struct system_calls real;

static int open_no_record(int directory, const char *name, int flags, mode_t mode)
{
    if (strcmp(name, "job.yaml") != 0)
        return real.openat(directory, name, flags, mode);
    errno = EMFILE;
    return -1;
}

/* What could not be read is read for the next batch. */
static void what_cannot_be_read_now_counts_in_the_next_batch(void **state)
{
    char id[ID_SIZE];
    (void)state;
    for (int i = 0; i < 3; i++)
        put(STATE_RENDERED, ANN, id);
    real = sys;
    sys.openat = open_no_record;
    assert_false(full(ANN));
    sys = real;
    backlog_begin(backlog);
    assert_true(full(ANN));
}

/* A retry counts by its owner until it is seen; then with all that it asks for. */
static void a_retry_counts_as_its_record_says(void **state)
{
    const char id[ID_SIZE] = "again-0000000000001";
    (void)state;
    backlog_free(backlog);
    stage_close(&own);
    write_settings("limits: {rows: [{user: \"*\", gpus: 4, over: refuse}]}\n");
    assert_int_equal(stage_open(&own, "intake", path, &error), 0);
    backlog = backlog_new(&own);
    backlog_begin(backlog);
    struct job_record record = job_of(ANN);
    record.gpus = 4;
    assert_int_equal(backlog_ask(backlog, &record, &error), BACKLOG_OPEN);
    backlog_add_retry(backlog, text_of(id), ANN);
    record.id = text_of(id);
    record.attempt = 1;
    record.failure.exit_code = -1;
    put_job(STATE_RENDERED, &record, "", NULL);
    backlog_begin(backlog);
    struct job_record huge = job_of(BOB); /* for which intake looks again */
    huge.gpus = 5;
    assert_int_equal(backlog_ask(backlog, &huge, &error), BACKLOG_OVER);
    assert_int_equal(backlog_ask(backlog, &record, &error), BACKLOG_OVER);
}

static void a_batch_counts_before_it_is_published(void **state)
{
    char id[ID_SIZE];
    (void)state;
    put(STATE_RENDERED, ANN, id);
    put(STATE_RENDERED, ANN, id);
    assert_false(full(ANN));
    leave(id, STATE_RENDERED);
    backlog_begin(backlog);
    assert_false(full(ANN));
    add("new-0000000000001", ANN);
    /* Looked at again here: one has left, one is there, one is new. */
    assert_false(full(ANN));
    add("new-0000000000002", ANN);
    assert_true(full(ANN));
}

static void who_has_left_makes_room_in_the_next_batch(void **state)
{
    char ids[3][ID_SIZE];
    (void)state;
    for (int i = 0; i < 3; i++)
        put(STATE_RENDERED, ANN, ids[i]);
    assert_true(full(ANN));
    leave(ids[1], STATE_RENDERED);
    assert_true(full(ANN)); /* one look a batch */
    backlog_begin(backlog);
    assert_false(full(ANN));
    add("new-0000000000001", ANN);
    assert_true(full(ANN));
    /* What was never published counts no more. */
    backlog_begin(backlog);
    assert_false(full(ANN));
}

static void administrators_may_have_any_number(void **state)
{
    char id[ID_SIZE];
    (void)state;
    for (int i = 0; i < 4; i++) {
        put(STATE_HELD, BOSS, id);
        put(STATE_HELD, getuid(), id);
    }
    assert_false(full(BOSS));
    assert_false(full(getuid()));
}

static void a_retry_counts_until_its_job_is_seen(void **state)
{
    char ids[3][ID_SIZE];
    (void)state;
    for (int i = 0; i < 3; i++) {
        put(STATE_FAILED, ANN, ids[i]);
        assert_false(full(ANN));
        backlog_add_retry(backlog, text_of(ids[i]), ANN);
    }
    backlog_begin(backlog);
    assert_true(full(ANN));
    /* One comes, and goes: it is not counted twice, nor any more. */
    struct job_place place = {.state = STATE_FAILED};
    snprintf(place.id, sizeof(place.id), "%s", ids[0]);
    assert_int_equal(job_move(&spool, &place, STATE_RENDERED, now, &error), 0);
    backlog_begin(backlog);
    assert_true(full(ANN));
    leave(ids[0], STATE_RENDERED);
    backlog_begin(backlog);
    assert_false(full(ANN));
    add("new-0000000000001", ANN);
    assert_true(full(ANN));
    /* What nothing has become of is forgotten. */
    advance(10001);
    backlog_begin(backlog);
    assert_false(full(ANN));
    add("new-0000000000002", ANN);
    add("new-0000000000003", ANN);
    assert_false(full(ANN));
}

static void without_a_limit_nothing_is_counted(void **state)
{
    (void)state;
    own.settings.limits.waiting = 0;
    assert_null(backlog_new(&own));
    assert_false(backlog_ask(NULL, NULL, &error));
    assert_false(backlog_refuses_retry(NULL, ANN, &error));
    backlog_begin(NULL);
    backlog_add(NULL, "x", NULL);
    backlog_add_retry(NULL, TEXT("x"), ANN);
    backlog_free(NULL);
}

/* Rows of limits.rows: what waits by group and queue, and what also runs where the row refuses. */
static void rows_bound_what_comes(void **state)
{
    struct job_record job = job_of(ANN);
    (void)state;
    backlog_free(backlog);
    stage_close(&own);
    job.id = TEXT("run-0000000000001");
    job.request_file = TEXT("request.yaml");
    job.attempt = 1;
    job.gpus = 3;
    job.failure.exit_code = -1;
    put_job(STATE_SUBMITTED, &job, "", NULL);
    write_settings("limits:\n  rows:\n  - {queue: short, waiting: 1}\n"
                   "  - {user: \"*\", gpus: 4, over: refuse}\n");
    assert_int_equal(stage_open(&own, "intake", path, &error), 0);
    backlog = backlog_new(&own);
    backlog_begin(backlog);
    job = job_of(ANN);
    job.queue = TEXT("short");
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_add(backlog, "new-0000000000001", &job);
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OVER);
    assert_string_equal(error.text,
                        "queue short has 1 job waiting, and no more may (limits.rows of "
                        "dlspool.yaml, line 3, which an administrator can change)");
    job.queue = TEXT("");
    job.gpus = 2;
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OVER);
    assert_non_null(
        strstr(error.text, "user 1001 uses and waits for 3 of 4 GPUs, and the job needs 2 "));
    job.gpus = 1;
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_add(backlog, "new-0000000000002", &job);
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OVER);
    assert_non_null(
        strstr(error.text, "user 1001 uses and waits for 4 of 4 GPUs, and the job needs 1 "));
    job = job_of(BOB);
    job.gpus = 4;
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
}

/* The accounts have a line of ANN, who held a GPU for so long until now. */
static void account(const char *id, int64_t held)
{
    struct usage usage;
    struct buffer line = {0};
    usage_clear(&usage);
    usage.id = text_of(id);
    usage.attempt = 1;
    usage.uid = ANN;
    usage.user = TEXT("1001");
    usage.written = usage.ended = now;
    usage.started = now - held;
    usage.gpu_held = held;
    usage.outcome = TEXT("succeeded");
    usage_format(&usage, &line);
    assert_int_equal(usage_append(&spool, buffer_text(&line), now, &error), 0);
    buffer_free(&line);
}

static struct job_record job_of_hours(uid_t uid, int gpus, int64_t hours)
{
    struct job_record job = job_of(uid);
    job.id = TEXT("run-0000000000001");
    job.request_file = TEXT("request.yaml");
    job.attempt = 1;
    job.failure.exit_code = -1;
    job.gpus = gpus;
    job.time_limit = hours * HOUR;
    return job;
}

static void with_rows(const char *rows)
{
    char settings[512];
    backlog_free(backlog);
    stage_close(&own);
    snprintf(settings, sizeof(settings), "limits:\n  rows:\n%s", rows);
    write_settings(settings);
    assert_int_equal(stage_open(&own, "intake", path, &error), 0);
    backlog = backlog_new(&own);
    backlog_begin(backlog);
}

static enum backlog_answer ask_hours(uid_t uid, int gpus, int64_t hours)
{
    const struct job_record job = job_of_hours(uid, gpus, hours);
    return backlog_ask(backlog, &job, &error);
}

/* Of gpu_hours what has ended counts, what runs, and what waits. */
static void hours_that_were_used_refuse(void **state)
{
    struct stat status;
    struct job_record job = job_of_hours(ANN, 1, 2);
    (void)state;
    with_rows("  - {user: \"*\", gpu_hours: 10/30d, over: refuse}\n");
    assert_int_equal(fstatat(spool.root, "history/usage", &status, 0), 0); /* to be confined with */
    account("old-0000000000001", 4 * HOUR);
    put_job(STATE_SUBMITTED, &job, "", NULL);
    assert_int_equal(ask_hours(ANN, 1, 4), BACKLOG_OPEN);
    assert_int_equal(ask_hours(ANN, 1, 5), BACKLOG_OVER);
    job = job_of_hours(ANN, 1, 1);
    backlog_add(backlog, "new-0000000000002", &job);
    assert_int_equal(ask_hours(ANN, 1, 3), BACKLOG_OPEN);
    assert_int_equal(ask_hours(ANN, 2, 2), BACKLOG_OVER);
    assert_string_equal(
        error.text, "user 1001 has used 4 of 10 GPU-hours within 30 d, what runs and waits may use "
                    "3 more, and the job may use 4 until its time_limit; there is room from "
                    "2026-06-01T00:00:00.000Z on if nobody uses more (limits.rows of dlspool.yaml, "
                    "line 3, which an administrator can change)");
    assert_int_equal(ask_hours(ANN, 0, 100), BACKLOG_OPEN);
    assert_int_equal(ask_hours(BOB, 1, 10), BACKLOG_OPEN);
}

/* A job without a time limit uses more and more: intake looks again by itself. */
static void hours_grow_between_looks(void **state)
{
    const struct job_record job = job_of_hours(ANN, 1, 0);
    (void)state;
    with_rows("  - {user: \"*\", gpu_hours: 10/30d, over: refuse}\n");
    put_job(STATE_SUBMITTED, &job, "", NULL);
    assert_int_equal(ask_hours(ANN, 1, 8), BACKLOG_OPEN);
    account("run-0000000000001", 4 * HOUR);
    backlog_begin(backlog);
    assert_int_equal(ask_hours(ANN, 1, 8), BACKLOG_OPEN);
    advance(10000);
    backlog_begin(backlog);
    assert_int_equal(ask_hours(ANN, 1, 8), BACKLOG_OVER);
}

/* Accounts of which a part was taken away, as by a restored backup, are read from the beginning. */
static void hours_are_counted_anew(void **state)
{
    struct stat status;
    char file[64];
    (void)state;
    with_rows("  - {user: \"*\", gpu_hours: 10/30d, over: refuse}\n");
    snprintf(file, sizeof(file), "%s/history/usage/2026-05", path);
    account("old-0000000000001", 3 * HOUR);
    assert_int_equal(stat(file, &status), 0);
    account("old-0000000000002", 4 * HOUR);
    assert_int_equal(ask_hours(ANN, 1, 4), BACKLOG_OVER);
    assert_int_equal(truncate(file, status.st_size), 0);
    backlog_begin(backlog);
    assert_int_equal(ask_hours(ANN, 1, 8), BACKLOG_OVER);
    assert_int_equal(ask_hours(ANN, 1, 7), BACKLOG_OPEN);
}

/* What is over is asked for, with what was used; a row that only waits is submit's. */
static void hours_that_were_used_want_approval(void **state)
{
    struct job_record job = job_of_hours(ANN, 1, 7);
    struct arena *arena = arena_new();
    (void)state;
    with_rows("  - {user: \"*\", gpu_hours: 10/30d, over: approve}\n"
              "  - {user: \"*\", gpu_hours: 5/1d}\n");
    account("old-0000000000001", 4 * HOUR);
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_take_wants(backlog, arena, &job);
    assert_string_equal(job.wants.data,
                        "limit user * gpu_time_ms=36000000 gpu_period_ms=2592000000");
    job = job_of_hours(ANN, 1, 6);
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_take_wants(backlog, arena, &job);
    assert_int_equal(job.wants.length, 0);
    arena_free(arena);
    with_rows("  - {user: \"*\", gpu_hours: 5/1d}\n");
    assert_null(backlog);
}

static const char *moving; /* NULL: nothing moves */
/* It is approved just before held/ is looked at. */
static int open_while_it_moves(int directory, const char *name, int flags, mode_t mode)
{
    struct job_place place = {.state = STATE_HELD};
    if (moving && directory == own.spool.states[STATE_HELD]) {
        snprintf(place.id, sizeof(place.id), "%s", moving);
        moving = NULL;
        assert_int_equal(job_move(&spool, &place, STATE_RENDERED, now, &error), 0);
    }
    return real.openat(directory, name, flags, mode);
}

/* A look that meets a job in neither of two directories does not forget it, so that a later one waits for approval. */
static void what_moves_during_a_look_counts(void **state)
{
    struct job_record job = job_of_hours(ANN, 10, 0);
    struct arena *arena = arena_new();
    (void)state;
    with_rows("  - {user: \"*\", gpus: 12, over: approve}\n");
    put_job(STATE_HELD, &job, "", NULL);
    real = sys;
    sys.openat = open_while_it_moves;
    for (int looks = 0; looks < 2; looks++) {
        job = job_of(ANN);
        job.gpus = 4;
        backlog_begin(backlog);
        assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
        moving = looks ? NULL : "run-0000000000001";
        backlog_begin(backlog);
        backlog_take_wants(backlog, arena, &job);
        assert_string_equal(job.wants.data, "limit user * gpus=12");
        assert_null(moving);
    }
    sys = real;
    arena_free(arena);
}

/* One that resubmit brings back counts before long, although nothing that comes is over the row without it. */
static void what_comes_back_is_seen(void **state)
{
    struct job_record job = job_of_hours(ANN, 10, 0);
    struct arena *arena = arena_new();
    (void)state;
    with_rows("  - {user: \"*\", gpus: 12, over: approve}\n");
    const struct job_record bobs = job_of(BOB);
    assert_int_equal(backlog_ask(backlog, &bobs, &error), BACKLOG_OPEN);
    put_job(STATE_RENDERED, &job, "", NULL);
    advance(10000);
    backlog_begin(backlog);
    job = job_of(ANN);
    job.gpus = 4;
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_take_wants(backlog, arena, &job);
    assert_string_equal(job.wants.data, "limit user * gpus=12");
    arena_free(arena);
}

static bool wants_approval(int64_t memory)
{
    struct arena *arena = arena_new();
    struct job_record job = job_of(ANN);
    job.memory = memory;
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_take_wants(backlog, arena, &job);
    bool result = job.wants.length > 0;
    arena_free(arena);
    return result;
}

/* Jobs that wait for an approval, as they ask for more than there can be, do not make room for others: together they
 * have 2^63 bytes. */
static void no_amounts_leave_room(void **state)
{
    static const char *const ids[] = {"huge-0000000000001", "huge-0000000000002",
                                      "huge-0000000000003", "huge-0000000000004"};
    (void)state;
    with_rows("  - {user: \"*\", memory: 1Gi, over: approve}\n");
    assert_false(wants_approval(1 << 30));
    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        struct job_record huge = job_of(ANN);
        huge.memory = INT64_C(1) << 48;
        huge.array_at_once = 8192;
        huge.array = TEXT("0-8191");
        backlog_add(backlog, ids[i], &huge);
        assert_true(wants_approval(1 << 30));
    }
}

/* However many queues users name. */
static void queues_that_have_gone_take_no_room(void **state)
{
    char queue[32];
    (void)state;
    backlog_free(backlog);
    stage_close(&own);
    write_settings("limits:\n  rows:\n  - {queue: \"*\", waiting: 1}\n");
    assert_int_equal(stage_open(&own, "intake", path, &error), 0);
    backlog = backlog_new(&own);
    add("old-0000000000001", BOB);
    for (int i = 0; i < 70000; i++) {
        struct job_record job = job_of(ANN);
        snprintf(queue, sizeof(queue), "q%d", i);
        job.queue = text_of(queue);
        backlog_begin(backlog);
        assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    }
    struct job_record job = job_of(ANN);
    job.queue = TEXT("last");
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OPEN);
    backlog_add(backlog, "new-0000000000001", &job);
    assert_int_equal(backlog_ask(backlog, &job, &error), BACKLOG_OVER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_backlog, close_backlog)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_waits_at_the_start_counts),
        TEST(what_cannot_be_read_now_counts_in_the_next_batch),
        TEST(a_retry_counts_as_its_record_says),
        TEST(a_batch_counts_before_it_is_published),
        TEST(who_has_left_makes_room_in_the_next_batch),
        TEST(administrators_may_have_any_number),
        TEST(a_retry_counts_until_its_job_is_seen),
        TEST(without_a_limit_nothing_is_counted),
        TEST(rows_bound_what_comes),
        TEST(hours_that_were_used_refuse),
        TEST(hours_grow_between_looks),
        TEST(hours_that_were_used_want_approval),
        TEST(hours_are_counted_anew),
        TEST(what_moves_during_a_look_counts),
        TEST(what_comes_back_is_seen),
        TEST(no_amounts_leave_room),
        TEST(queues_that_have_gone_take_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
