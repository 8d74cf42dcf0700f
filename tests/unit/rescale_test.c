/* tests/unit/rescale_test.c - what becomes of a request that a running job has another size
 *
 * The executor does and says what the test wants.
 */
#include "tests/unit/stage_fixture.h"

#include <signal.h>

#include "stages/shared/control.h"
#include "stages/shared/resize.h"

#define ID "job-0000000000001"

/* The executor */

static struct {
    struct executor_operations operations;
    enum job_phase phase;
    int exit_code;
    const char *prints; /* all that the task has printed */
    enum resize_outcome outcome;
    int64_t asked; /* the size that was asked for last */
    int resizes, signals, signal, cancels, forced, removed;
    bool deaf;   /* signals cannot be sent */
    int seen_to; /* times that what it prints last was seen to, ... */
    int told;    /* ... and those of them that came when it was told to end already */
} fake;

static int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static int fake_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                     size_t count, struct error *problem)
{
    (void)executor;
    (void)problem;
    for (size_t i = 0; i < count; i++) {
        struct task_state *task = arena_allocate(arena, sizeof(*task));
        snprintf(task->role, sizeof(task->role), "main");
        jobs[i]->phase = fake.phase;
        jobs[i]->started = fake.phase == PHASE_WAITING ? 0 : 1767268800000;
        jobs[i]->exit_code = task->exit_code = fake.exit_code;
        task->ended = fake.phase == PHASE_SUCCEEDED || fake.phase == PHASE_FAILED;
        snprintf(jobs[i]->reason, sizeof(jobs[i]->reason), "%s",
                 fake.phase == PHASE_FAILED ? "Exited" : "");
        jobs[i]->tasks = task;
        jobs[i]->task_count = 1;
    }
    return 0;
}

static void fake_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    (void)executor;
    assert_int_equal(count, 1);
    fake.resizes++;
    fake.asked = batch[0]->size;
    batch[0]->outcome = fake.outcome;
    error_set(&batch[0]->error, "the executor has its reasons");
}

static void fake_signal(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    assert_int_equal(count, 1);
    fake.signals++;
    fake.signal = batch[0]->signal;
    batch[0]->result = fake.deaf ? error_set(&batch[0]->error, "it is deaf") : 0;
}

static void fake_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        fake.cancels++;
        fake.forced += batch[i]->force;
        batch[i]->result = 0;
    }
}

static void fake_output(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        fake.seen_to += batch[i]->ending;
        fake.told += batch[i]->ending && fake.cancels > 0;
        int file = openat(batch[i]->directory, "main-0.log", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        batch[i]->result = write(file, fake.prints, strlen(fake.prints)) < 0 ? -1 : 0;
        close(file);
    }
}

static void fake_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        fake.removed++;
        batch[i]->result = 0;
    }
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

/* The job */

static struct job_record a_record(void)
{
    return (struct job_record){.id = TEXT(ID),
                               .owner = TEXT("ann"),
                               .uid = 1000,
                               .gid = (gid_t)-1,
                               .accepted = now,
                               .request_file = TEXT("request.yaml"),
                               .cpus = 1000,
                               .attempt = 1,
                               .retries = 1,
                               .units_pattern = TEXT("step {done}/{total}"),
                               .sizes = {.kind = SIZE_CPUS, .least = 1000, .most = 4000},
                               .size = 1000,
                               .size_asked = 1000,
                               .failure.exit_code = -1};
}

static void begin(const struct job_record *record)
{
    put_job(STATE_SUBMITTED, record,
            "2026-01-01T12:00:00.000Z accepted file=x\n"
            "2026-01-01T12:00:00.000Z intent attempt=1\n"
            "2026-01-01T12:00:00.000Z submitted attempt=1\n"
            "2026-01-01T12:00:01.000Z started attempt=1\n",
            NULL);
    open_stage();
}

/* The job runs, and cannot be stopped. */
static void begin_without_checkpoint(void)
{
    struct job_record record = a_record();
    begin(&record);
}

static void begin_with_checkpoint(void)
{
    struct job_record record = a_record();
    record.checkpoint_signal = TEXT("USR1");
    record.checkpoint_grace = 20000;
    begin(&record);
}

/* A round each second. */
static void run_seconds(int count)
{
    for (int i = 0; i < count; i++)
        run_round_after(1000);
}

static struct job_record record_in(enum state state)
{
    static struct arena *arena;
    struct job_record record;
    if (!arena)
        arena = arena_new();
    int job = open_job(ID, state);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    close(job);
    return record;
}

/* The plan wants it. */
static void resize_request_for(int64_t to)
{
    struct job_record record = record_in(STATE_SUBMITTED);
    struct resize_request request = {.generation = record.resizes + 1,
                                     .from = 1000,
                                     .to = to,
                                     .when = now,
                                     .reason = "the plan says so"};
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(resize_write(job, &record, &request, &error), 0);
    close(job);
}

/* It has a checkpoint, and is told to come to that size by way of it. */
static void begin_to_change(int64_t to)
{
    begin_with_checkpoint();
    resize_request_for(to);
    run_seconds(1);
}

static void end_with(enum job_phase phase, int exit_code)
{
    fake.phase = phase;
    fake.exit_code = exit_code;
    run_seconds(1);
}

static int events(enum state state, const char *name)
{
    return find_events(ID, state, name, NULL);
}

static bool request_is_there(enum state state)
{
    int job = open_job(ID, state);
    bool result = resize_is_there(job);
    close(job);
    return result;
}

/* It has failed for that reason, after so many changes, and goes on at `next` (0: as it was). */
static void expect_failed(const char *reason, int resizes, int64_t next)
{
    struct job_record record = record_in(STATE_FAILED);
    assert_true(text_is(record.failure.reason, reason));
    assert_int_equal(record.resizes, resizes);
    assert_int_equal(record.size_next, next);
}

/* It was neither signalled nor cancelled. */
static void expect_undisturbed(void)
{
    assert_int_equal(fake.signals + fake.cancels, 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    fake.operations = (struct executor_operations){.name = "fake",
                                                   .ready = fake_ready,
                                                   .poll = fake_poll,
                                                   .resize = fake_resize,
                                                   .signal = fake_signal,
                                                   .cancel = fake_cancel,
                                                   .output = fake_output,
                                                   .remove = fake_remove,
                                                   .close = fake_close};
    fake.phase = PHASE_RUNNING;
    fake.prints = "step 1/100\n";
    fake.outcome = RESIZE_NOT_POSSIBLE;
    open_spool(&track_stage, &fake.operations, 1767268801000); /* 2026-01-01 */
    open_templates();
    write_settings("executor: local\nsync: none\nkill_grace: 5s\n");
    return 0;
}

/* In place */

static void it_is_given_what_can_be_given(void **state)
{
    (void)state;
    begin_without_checkpoint();
    fake.outcome = RESIZE_DONE;
    run_seconds(1);
    resize_request_for(2000);
    run_seconds(3);
    struct job_record record = record_in(STATE_SUBMITTED);
    assert_int_equal(fake.resizes, 1);
    assert_int_equal(fake.asked, 2000);
    assert_int_equal(record.size, 1000);
    assert_int_equal(record.size_now, 2000);
    assert_int_equal(record.resizes, 1);
    assert_true(record.resized > 0);
    assert_false(request_is_there(STATE_SUBMITTED));
    assert_int_equal(events(STATE_SUBMITTED, "resized"), 1);
    assert_int_equal(events(STATE_SUBMITTED, "measured"), 1);
    resize_request_for(4000);
    run_seconds(3);
    assert_int_equal(record_in(STATE_SUBMITTED).size_now, 4000);
    assert_int_equal(record_in(STATE_SUBMITTED).resizes, 2);
    resize_request_for(4000); /* which it has already: nobody is asked */
    run_seconds(1);
    assert_int_equal(fake.resizes, 2);
    assert_false(request_is_there(STATE_SUBMITTED));
    end_with(PHASE_SUCCEEDED, 0);
    assert_true(in_state(ID, STATE_DONE));
    expect_undisturbed();
}

static void it_is_asked_for_again_and_given_up(void **state)
{
    (void)state;
    begin_with_checkpoint();
    for (int i = 0; i < 2; i++) {
        fake.outcome = i ? RESIZE_UNAVAILABLE : RESIZE_NO_ROOM;
        fake.resizes = 0;
        resize_request_for(2000);
        run_seconds(55);
        assert_true(request_is_there(STATE_SUBMITTED));
        assert_in_range(fake.resizes, 20, 30);
        run_seconds(10);
        assert_false(request_is_there(STATE_SUBMITTED));
        struct job_record record = record_in(STATE_SUBMITTED);
        assert_int_equal(record.resizes, i + 1);
        assert_int_equal(record.size_now, 0);
        assert_int_equal(events(STATE_SUBMITTED, "kept"), i + 1);
    }
    resize_request_for(2000);
    run_seconds(5);
    fake.outcome = RESIZE_DONE;
    run_seconds(5);
    assert_int_equal(record_in(STATE_SUBMITTED).size_now, 2000);
    expect_undisturbed();
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const int64_t impossible[] = {999, 4001, 2000, 0};
    begin_without_checkpoint();
    for (int i = 0; i < 4; i++) {
        resize_request_for(impossible[i]);
        run_seconds(1);
        assert_false(request_is_there(STATE_SUBMITTED));
        assert_int_equal(events(STATE_SUBMITTED, "kept"), i + 1);
        assert_int_equal(record_in(STATE_SUBMITTED).resizes, i + 1);
    }
    assert_int_equal(fake.resizes, 1); /* only 2000 was worth a question */
    expect_undisturbed();
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(spool_file_replace(job, "resize", TEXT("nonsense\n"), 0644, &error), 0);
    close(job);
    run_seconds(1);
    assert_false(request_is_there(STATE_SUBMITTED));
    assert_int_equal(events(STATE_SUBMITTED, "kept"), 4);
}

/* By way of its checkpoint */

static void it_saves_its_state_and_goes_on(void **state)
{
    (void)state;
    begin_to_change(2000);
    assert_int_equal(fake.signal, SIGUSR1);
    assert_true(request_is_there(STATE_SUBMITTED));
    run_seconds(18);
    assert_int_equal(fake.signals, 1);
    assert_int_equal(fake.cancels, 0);
    run_seconds(3); /* its grace is over */
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.forced, 0);
    run_seconds(5);
    assert_int_equal(fake.forced, 1);
    end_with(PHASE_FAILED, 137);
    expect_failed("Resized", 1, 2000);
    struct job_record record = record_in(STATE_FAILED);
    assert_true(text_is(record.failure.class, "transient"));
    assert_int_equal(record.failure.when, RETRY_AT);
    assert_int_equal(record.failure.next, now);
    assert_int_equal(record.retried, 0);
    assert_false(request_is_there(STATE_FAILED));
}

static void it_is_preempted(void **state)
{
    (void)state;
    begin_to_change(0);
    end_with(PHASE_FAILED, 75);
    expect_failed("Preempted", 1, 0);
    assert_int_equal(fake.resizes, 0);
}

/* For a queue that takes back its GPUs, or for higher priority, stops also who has no checkpoint; it is told to end as
 * a killed job is, and begins anew. */
static void without_a_checkpoint_it_begins_anew(void **state)
{
    (void)state;
    struct job_record record = a_record();
    record.sizes = (struct sizes){.kind = SIZE_FIXED};
    record.size = record.size_asked = 0;
    begin(&record);
    run_seconds(3);
    const struct resize_request request = {
        .generation = 1, .to = 0, .loses = true, .when = now, .reason = "others wait"};
    struct job_place place = {.state = STATE_SUBMITTED, .id = ID};
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(resize_write(job, &record, &request, &error), 0);
    job_notify(&spool, &place, job);
    close(job);
    run_seconds(1);
    assert_int_equal(fake.signals, 1);
    assert_int_equal(fake.signal, SIGTERM);
    assert_int_equal(fake.cancels, 0); /* it has its grace */
    end_with(PHASE_FAILED, 143);
    expect_failed("Preempted", 1, 0);
    assert_int_equal(record_in(STATE_FAILED).retried, 0);
}

static void what_has_not_started_has_nothing_to_save(void **state)
{
    (void)state;
    fake.phase = PHASE_WAITING;
    begin_to_change(2000);
    assert_int_equal(fake.signals, 0);
    assert_int_equal(fake.cancels, 1);
}

/* One that ends well is done, unless it says itself that it is not. */
static void ends_well(const char *prints, enum state wanted)
{
    begin_to_change(2000);
    fake.prints = prints;
    end_with(PHASE_SUCCEEDED, 0);
    assert_true(in_state(ID, wanted));
    assert_int_equal(events(wanted, "finished"), wanted == STATE_DONE);
    assert_false(request_is_there(wanted));
    if (wanted == STATE_FAILED)
        expect_failed("Resized", 1, 2000);
}

static void one_that_is_complete_is_done(void **state)
{
    (void)state;
    ends_well("step 1/100\nstep 100/100\n", STATE_DONE);
}

static void one_that_is_not_goes_on(void **state)
{
    (void)state;
    ends_well("step 1/100\nstep 99/100\n", STATE_FAILED);
}

static void one_that_does_not_count_is_done(void **state)
{
    (void)state;
    fake.prints = "hello\n";
    ends_well("hello\n", STATE_DONE);
}

static void a_kill_is_a_kill(void **state)
{
    (void)state;
    begin_to_change(2000);
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    run_seconds(1);
    assert_int_equal(fake.cancels, 1); /* at once, whatever its grace */
    end_with(PHASE_FAILED, 143);
    struct job_record record = record_in(STATE_FAILED);
    assert_true(text_is(record.failure.reason, "Killed"));
    assert_int_equal(record.failure.when, RETRY_NEVER);
    assert_int_equal(record.size_next, 0);
}

static void what_fails_by_itself_has_failed(void **state)
{
    (void)state;
    begin_with_checkpoint();
    run_seconds(1);
    resize_request_for(2000);
    end_with(PHASE_FAILED, 3);
    expect_failed("Exited", 0, 0);
    assert_false(request_is_there(STATE_FAILED));
    assert_int_equal(fake.signals, 0);
}

static void after_a_restart_it_is_told_again(void **state)
{
    (void)state;
    begin_to_change(2000);
    close_stage();
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(resize_clear(job, &error), 0); /* the log alone says it */
    close(job);
    open_stage();
    run_seconds(1);
    assert_int_equal(fake.signals, 2);
    end_with(PHASE_FAILED, 75);
    expect_failed("Resized", 1, 2000);
}

static void the_deaf_are_ended_in_the_end(void **state)
{
    (void)state;
    fake.deaf = true;
    begin_to_change(2000);
    run_seconds(69);
    assert_int_equal(fake.cancels, 0);
    assert_true(fake.signals > 10);
    run_seconds(15);
    assert_int_equal(fake.cancels, 1);
}

/* Where what tasks print goes with them, what they print as they save their state is seen to before they are
 * told to; where it does not, nobody is asked. */
static void what_it_prints_as_it_saves_is_seen_to(void **state)
{
    for (int loses = 0; loses < 2; loses++) {
        if (loses) {
            close_spool(state);
            set_up(state);
        }
        fake.operations.signal = NULL;
        fake.operations.resize = NULL;
        fake.operations.loses_output = loses;
        begin_with_checkpoint();
        run_seconds(1);
        assert_int_equal(fake.seen_to, 0);
        resize_request_for(2000);
        run_seconds(1);
        assert_int_equal(fake.cancels, 1);
        assert_int_equal(fake.seen_to - fake.told, loses);
    }
}

/* Where nothing but a cancel can be sent. */
static void cancel_is_its_signal(void **state)
{
    (void)state;
    fake.operations.signal = NULL;
    fake.operations.resize = NULL;
    begin_to_change(2000);
    run_seconds(18);
    assert_int_equal(fake.cancels, 1);
    assert_int_equal(fake.forced, 0);
    run_seconds(3);
    assert_int_equal(fake.forced, 1);
}

/* How such a job ended says nothing; what it counts does. */
static void ends_after_cancel(int64_t wait, enum state wanted)
{
    fake.operations.signal = NULL;
    begin_to_change(2000);
    run_round_after(wait);
    fake.prints = "step 1/100\nstep 100/100\n";
    end_with(PHASE_FAILED, 143);
    assert_true(in_state(ID, wanted));
    assert_int_equal(events(wanted, "finished"), wanted == STATE_DONE);
}

static void one_that_was_complete_is_done(void **state)
{
    (void)state;
    ends_after_cancel(1000, STATE_DONE);
}

static void one_that_was_forced_goes_on(void **state)
{
    (void)state;
    ends_after_cancel(30000, STATE_FAILED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, close_spool)
    const struct CMUnitTest tests[] = {
        TEST(it_is_given_what_can_be_given),
        TEST(it_is_asked_for_again_and_given_up),
        TEST(what_cannot_be_is_refused),
        TEST(it_saves_its_state_and_goes_on),
        TEST(it_is_preempted),
        TEST(without_a_checkpoint_it_begins_anew),
        TEST(what_has_not_started_has_nothing_to_save),
        TEST(one_that_is_complete_is_done),
        TEST(one_that_is_not_goes_on),
        TEST(one_that_does_not_count_is_done),
        TEST(a_kill_is_a_kill),
        TEST(what_fails_by_itself_has_failed),
        TEST(after_a_restart_it_is_told_again),
        TEST(the_deaf_are_ended_in_the_end),
        TEST(what_it_prints_as_it_saves_is_seen_to),
        TEST(cancel_is_its_signal),
        TEST(one_that_was_complete_is_done),
        TEST(one_that_was_forced_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
