/* tests/unit/fates_test.c - how far a job got, and what happens to it then: every pair of them through
 * the track stage
 *
 * Whatever a job lacks because it never started, never ran, printed nothing or lost a file, the stage
 * goes on, and the job comes to an end with a reason.  Each pair is tried for a job with nothing
 * special, one that counts units, one with sizes and a checkpoint, and an array.
 */
#include "base/file.h"
#include "tests/unit/stage_fixture.h"

#include <signal.h>

#include "stages/shared/control.h"
#include "stages/shared/resize.h"

static const int64_t noon = 1767268801000; /* 2026-01-01 */

enum far {
    FAR_ACCEPTED,       /* the executor has it; there is no task yet */
    FAR_WAITING,        /* a task waits */
    FAR_STARTED,        /* a task runs, and has printed nothing */
    FAR_COUNTED,        /* ... and has printed units */
    FAR_SECOND_ATTEMPT, /* it ran before; this attempt has not started */
    FAR_NO_LOG,
    FAR_DAMAGED_LOG,
    FAR_NO_RECORD,
    FAR_DAMAGED_RECORD,
    FAR_DAMAGED_PROGRESS,
    FAR_NO_OUTPUT, /* nothing can be written where its output should be */
    FARS
};

enum then {
    THEN_SUCCEEDED,
    THEN_FAILED,
    THEN_FAILED_UNSTARTED, /* command not found, image missing, node refused */
    THEN_KILLED,
    THEN_RESIZED,
    THEN_STOPPED,
    THEN_VANISHED,
    THEN_AWAY,
    THEN_RESTARTED,
    THEN_REMOVED, /* somebody removes its directory */
    THENS
};

enum kind { KIND_PLAIN, KIND_UNITS, KIND_UNITS_FILE, KIND_SIZED, KIND_ARRAY, KINDS };

/* ---- the executor ---- */

static struct {
    enum job_phase phase;
    bool away, unstarted, cancelled, no_tasks;
    int syncs, synced; /* how many there were; and when a job was forgotten last */
    const char *prints;
} fake;

static int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static enum job_phase phase_now(void)
{
    return fake.cancelled && fake.phase != PHASE_SUCCEEDED ? PHASE_FAILED : fake.phase;
}

static int fake_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                     size_t count, struct error *problem)
{
    (void)executor;
    if (fake.away)
        return error_set(problem, "it is away");
    for (size_t i = 0; i < count; i++) {
        struct job_poll *poll = jobs[i];
        poll->phase = phase_now();
        bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
        bool started = poll->phase != PHASE_WAITING && !fake.unstarted;
        poll->started = started ? noon : 0;
        poll->ended = ended && started ? now : 0;
        poll->exit_code = poll->phase == PHASE_FAILED ? fake.unstarted ? -1 : 1 : 0;
        if (poll->phase == PHASE_FAILED) {
            snprintf(poll->reason, sizeof(poll->reason), fake.unstarted ? "StartError" : "Exited");
            snprintf(poll->detail, sizeof(poll->detail), "task main-0 ended");
        }
        if (fake.no_tasks || poll->phase == PHASE_VANISHED)
            continue;
        poll->tasks = arena_allocate(arena, sizeof(*poll->tasks));
        *poll->tasks =
            (struct task_state){.role = "main", .ended = ended, .exit_code = poll->exit_code};
        poll->task_count = 1;
    }
    return 0;
}

static void fake_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        batch[i]->outcome = RESIZE_NOT_POSSIBLE;
        error_set(&batch[i]->error, "not while it runs");
    }
}

static void fake_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    fake.cancelled = true;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void fake_call(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void fake_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    fake.synced = fake.syncs;
    fake_call(executor, batch, count);
}

static int count_syncs(int file)
{
    (void)file;
    fake.syncs++;
    return 0;
}

static void fake_output(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        batch[i]->result = 0;
        if (!fake.prints || fake.unstarted)
            continue;
        int file = openat(batch[i]->directory, "main-0.log", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        batch[i]->result = write(file, fake.prints, strlen(fake.prints)) < 0 ? -1 : 0;
        close(file);
    }
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {.name = "fake",
                                                      .ready = fake_ready,
                                                      .poll = fake_poll,
                                                      .resize = fake_resize,
                                                      .signal = fake_call,
                                                      .cancel = fake_cancel,
                                                      .output = fake_output,
                                                      .remove = fake_remove,
                                                      .close = fake_close};

/* ---- a job, how far it got ---- */

static const char *put(enum kind kind, enum far far)
{
    static char id[ID_SIZE];
    static int next;
    snprintf(id, sizeof(id), "job-00000000%05d", next++);
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .request_file = TEXT("request.yaml"),
                                .cpus = 1000,
                                .retries = 1,
                                .failure.exit_code = -1,
                                .attempt = far == FAR_SECOND_ATTEMPT ? 2 : 1};
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
    if (kind == KIND_UNITS || kind == KIND_SIZED)
        record.units_pattern = TEXT("step {done}/{total}");
    if (kind == KIND_UNITS_FILE)
        record.units_file = TEXT("/nowhere/progress");
    if (kind == KIND_ARRAY)
        record.array = TEXT("0-3");
    if (kind == KIND_SIZED) {
        record.sizes = (struct sizes){.kind = SIZE_CPUS, .least = 1000, .most = 4000};
        record.size = record.size_asked = 1000;
        record.checkpoint_signal = TEXT("USR1");
        record.checkpoint_grace = 2000;
    }
    put_job(STATE_SUBMITTED, &record,
            far == FAR_SECOND_ATTEMPT
                ? "2026-01-01T12:00:00.000Z accepted file=x owner=ann uid=1000\n"
                  "2026-01-01T12:00:00.000Z intent attempt=2\n"
                  "2026-01-01T12:00:00.000Z submitted attempt=2\n"
                : "2026-01-01T12:00:00.000Z accepted file=x owner=ann uid=1000\n"
                  "2026-01-01T12:00:00.000Z intent attempt=1\n"
                  "2026-01-01T12:00:00.000Z submitted attempt=1\n",
            far == FAR_SECOND_ATTEMPT ? &before : NULL);
    return id;
}

/* What was there is lost.  The stage has to learn of it by starting again. */
static void lose(const char *id, enum far far)
{
    int job = open_job(id, STATE_SUBMITTED);
    close_stage();
    switch (far) {
    case FAR_NO_LOG:
        unlinkat(job, "log", 0);
        break;
    case FAR_DAMAGED_LOG:
        write_into(job, "log", "this is no event\n\xff\xfe");
        break;
    case FAR_NO_RECORD:
        unlinkat(job, "job.yaml", 0);
        break;
    case FAR_DAMAGED_RECORD:
        write_into(job, "job.yaml", "id: [");
        break;
    case FAR_DAMAGED_PROGRESS:
        write_into(job, "progress", "attempt: [");
        break;
    case FAR_NO_OUTPUT:
        unlinkat(job, "output/main-0.log", 0);
        unlinkat(job, "output", AT_REMOVEDIR);
        write_into(job, "output", "in the way");
        break;
    default:
        break;
    }
    close(job);
    open_stage();
}

static void come_so_far(const char *id, enum far far)
{
    memset(&fake, 0, sizeof(fake));
    fake.phase = far == FAR_STARTED || far == FAR_COUNTED ? PHASE_RUNNING : PHASE_WAITING;
    fake.no_tasks = far == FAR_ACCEPTED;
    fake.prints = far == FAR_COUNTED ? "step 1/10\nstep 2/10\n" : NULL;
    open_stage();
    run_round_after(1000);
    run_round_after(6000);
    if (far >= FAR_NO_LOG)
        lose(id, far);
}

/* ---- what happens to it then ---- */

static void resize_request_for(const char *id, int64_t to)
{
    struct arena *arena = arena_new();
    struct job_record record;
    int job = open_job(id, STATE_SUBMITTED);
    if (record_read(job, arena, &record, &error) == 0) {
        struct resize_request request = {.generation = record.resizes + 1,
                                         .from = 1000,
                                         .to = to,
                                         .when = now,
                                         .reason = "the plan says so"};
        assert_int_equal(resize_write(job, &record, &request, &error), 0);
    }
    close(job);
    arena_free(arena);
}

static void kill_it(const char *id)
{
    int job = open_job(id, STATE_SUBMITTED);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
}

/* The job itself ends after it, as jobs do. */
static void happen(const char *id, enum then then)
{
    switch (then) {
    case THEN_SUCCEEDED:
        fake.phase = PHASE_SUCCEEDED;
        return;
    case THEN_FAILED_UNSTARTED:
        fake.unstarted = true;
        break;
    case THEN_KILLED:
        kill_it(id);
        run_round_after(1000);
        return;
    case THEN_RESIZED:
        resize_request_for(id, 2000);
        run_round_after(1000);
        run_round_after(3000);
        break;
    case THEN_STOPPED:
        resize_request_for(id, 0);
        run_round_after(1000);
        run_round_after(3000);
        break;
    case THEN_VANISHED:
        fake.phase = PHASE_VANISHED;
        return;
    case THEN_AWAY:
        fake.away = true;
        run_round_after(1000);
        fake.away = false;
        break;
    case THEN_RESTARTED:
        close_stage();
        open_stage();
        run_round_after(1000);
        break;
    case THEN_FAILED:
    case THEN_REMOVED:
    case THENS:
        break;
    }
    fake.phase = PHASE_FAILED;
}

static void remove_directory(const char *id)
{
    char command[512];
    snprintf(command, sizeof(command), "rm -r '%s/submitted/%s'", path, id);
    assert_int_equal(system(command), 0);
}

/* In done/, or in failed/ with a reason in all three places. */
static void expect_end(const char *id, enum kind kind, enum far far, enum then then)
{
    char last[512];
    for (int i = 0; i < 90 && in_state(id, STATE_SUBMITTED); i++)
        run_round_after(1000);
    if (in_state(id, STATE_DONE))
        return;
    if (!in_state(id, STATE_FAILED))
        fail_msg("kind %d, far %d, then %d: it is still in submitted/", kind, far, then);
    int job = open_job(id, STATE_FAILED);
    struct buffer why = {0};
    if (file_read_at(job, "why", 1 << 16, &why, &error) || !strstr(why.data, "\n\nNext: "))
        fail_msg("kind %d, far %d, then %d: there is no why", kind, far, then);
    buffer_free(&why);
    close(job);
    assert_int_equal(find_events(id, STATE_FAILED, "failed", last), 1);
    assert_non_null(strstr(last, "reason="));
}

static int open_all(void **state)
{
    (void)state;
    open_spool(&track_stage, &operations, noon);
    open_templates();
    write_settings("executor: local\nsync: none\nkill_grace: 1s\n");
    return 0;
}

static void each_pair(enum kind kind)
{
    for (int far = 0; far < FARS; far++)
        for (int then = 0; then < THENS; then++) {
            const char *id = put(kind, (enum far)far);
            come_so_far(id, (enum far)far);
            if (then == THEN_REMOVED) {
                remove_directory(id);
                run_round_after(1000);
                run_round_after(1000);
            } else {
                happen(id, (enum then)then);
                expect_end(id, kind, (enum far)far, (enum then)then);
            }
            close_stage();
        }
}

static void a_plain_job(void **state)
{
    (void)state;
    each_pair(KIND_PLAIN);
}
static void one_that_prints_units(void **state)
{
    (void)state;
    each_pair(KIND_UNITS);
}
static void one_that_writes_units(void **state)
{
    (void)state;
    each_pair(KIND_UNITS_FILE);
}
static void one_with_sizes(void **state)
{
    (void)state;
    each_pair(KIND_SIZED);
}
static void an_array(void **state)
{
    (void)state;
    each_pair(KIND_ARRAY);
}

/* A service, which is run again whenever it ends. */
static const char *put_service(void)
{
    static const char id[] = "service-0000000000001";
    const struct job_record record = {.id = text_of(id),
                                      .owner = TEXT("ann"),
                                      .uid = 1000,
                                      .gid = (gid_t)-1,
                                      .accepted = now,
                                      .request_file = TEXT("request.yaml"),
                                      .cpus = 1000,
                                      .retries = RETRIES_ALWAYS,
                                      .failure.exit_code = -1,
                                      .attempt = 1};
    put_job(STATE_SUBMITTED, &record,
            "2026-01-01T12:00:00.000Z accepted file=x owner=ann uid=1000\n"
            "2026-01-01T12:00:00.000Z intent attempt=1\n"
            "2026-01-01T12:00:00.000Z submitted attempt=1\n",
            NULL);
    return id;
}

static void a_service_that_ends_is_run_again(void **state)
{
    (void)state;
    char last[512];
    const char *id = put_service();
    come_so_far(id, FAR_STARTED);
    fake.phase = PHASE_SUCCEEDED;
    run_round_after(1000);
    assert_int_equal(find_events(id, STATE_FAILED, "failed", last), 1);
    assert_non_null(strstr(last, "reason=Completed"));
}

/* It saves what it has, and ends well. */
static void a_service_that_is_killed_is_done(void **state)
{
    (void)state;
    const char *id = put_service();
    come_so_far(id, FAR_STARTED);
    kill_it(id);
    fake.phase = PHASE_SUCCEEDED;
    run_round_after(1000);
    assert_true(in_state(id, STATE_DONE));
}

/* How it ended is on the disk before the executor forgets it. */
static void an_end_is_durable_before_it_is_forgotten(void **state)
{
    (void)state;
    write_settings("executor: local\nkill_grace: 1s\n");
    const char *id = put(KIND_PLAIN, FAR_STARTED);
    come_so_far(id, FAR_STARTED);
    sys.syncfs = count_syncs;
    fake.phase = PHASE_SUCCEEDED;
    run_round_after(1000);
    assert_true(in_state(id, STATE_DONE));
    assert_int_equal(fake.synced, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plain_job),
        TEST(one_that_prints_units),
        TEST(one_that_writes_units),
        TEST(one_with_sizes),
        TEST(an_array),
        TEST(a_service_that_ends_is_run_again),
        TEST(a_service_that_is_killed_is_done),
        TEST(an_end_is_durable_before_it_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
