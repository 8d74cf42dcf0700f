/* single tasks of an array are killed while the others go on: what is told to whom, and how the job
 * ends
 *
 * The executor does and says what the test wants.
 */
#include <dirent.h>
#include <signal.h>

#include "base/file.h"
#include "base/names.h"
#include "tests/unit/stage_fixture.h"

#include "stages/shared/control.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/hold_tasks.h"

#define ID "sweep-0000000000001"

enum { TASKS = 3 };

static struct {
    bool ended[TASKS];
    int exit_code[TASKS];
    bool killed[TASKS]; /* what poll() was told last */
    char recorded[32];  /* what job.yaml said when cancel() was called last */
    char told[32];      /* whom that was about */
    int polite, forced;
    int64_t grace;    /* that the scheduler says it gives */
    char seen_to[32]; /* whose last output was seen to, before they were told */
    int followed;     /* times that output() was told of an end */
    int removal;      /* what remove() says */
    int64_t rest;     /* ... and for how long it asks to be left alone; how often it was asked: */
    int removals;
    const char
        *waits_for; /* it waits; what poll() was told that it had waited for, and since when: */
    char waited_for[64];
    int64_t waited_since;
    bool vanished;
    int64_t started[TASKS];
    int signals, signal;     /* how many were sent, and the last */
    char signalled[32];      /* ... and to whom */
    const char *unreachable; /* what of its first task is; since when poll() was told that it is: */
    int64_t unreachable_since;
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
    assert_int_equal(count, 1);
    struct job_poll *poll = jobs[0];
    poll->tasks = arena_allocate(arena, TASKS * sizeof(*poll->tasks));
    poll->task_count = TASKS;
    poll->phase = PHASE_SUCCEEDED;
    poll->started = now;
    snprintf(fake.waited_for, sizeof(fake.waited_for), "%s",
             poll->waited_for ? poll->waited_for : "");
    fake.waited_since = poll->waited_since;
    if (fake.waits_for) {
        poll->phase = PHASE_WAITING;
        poll->task_count = 0;
        poll->started = 0;
        snprintf(poll->detail, sizeof(poll->detail), "%s", fake.waits_for);
        return 0;
    }
    if (fake.vanished) {
        poll->phase = PHASE_VANISHED;
        poll->task_count = 0;
        return 0;
    }
    const int64_t *since = fake.unreachable && poll->unreachable
                               ? names_find(poll->unreachable, text_of(fake.unreachable))
                               : NULL;
    fake.unreachable_since = since ? *since : 0;
    for (int i = 0; i < TASKS; i++) {
        fake.killed[i] = executor_task_is_killed(poll, i);
        poll->tasks[i] = (struct task_state){.role = "main",
                                             .index = i,
                                             .ended = fake.ended[i],
                                             .started = fake.started[i],
                                             .exit_code = fake.exit_code[i],
                                             .unreachable = i ? NULL : fake.unreachable,
                                             .killed = fake.killed[i]};
        if (!fake.ended[i])
            poll->phase = PHASE_RUNNING;
    }
    for (int i = 0; i < TASKS && poll->phase == PHASE_SUCCEEDED; i++)
        if (fake.exit_code[i]) {
            poll->phase = PHASE_FAILED;
            poll->exit_code = fake.exit_code[i];
            snprintf(poll->reason, sizeof(poll->reason), "Exited");
            snprintf(poll->detail, sizeof(poll->detail), "task main-%d ended", i);
        }
    return 0;
}

static void read_job(struct job_record *record, struct arena *arena)
{
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(record_read(job, arena, record, &error), 0);
    close(job);
}

static void fake_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    struct arena *arena = arena_new();
    struct job_record record;
    assert_int_equal(count, 1);
    batch[0]->result = 0;
    read_job(&record, arena);
    snprintf(fake.recorded, sizeof(fake.recorded), "%.*s", (int)record.array_killed.length,
             record.array_killed.data ? record.array_killed.data : "");
    fake.told[0] = '\0';
    for (size_t i = 0; i < batch[0]->task_count; i++)
        snprintf(fake.told + strlen(fake.told), 8, "%d.", batch[0]->tasks[i]);
    batch[0]->grace = fake.grace;
    fake.polite += !batch[0]->force;
    fake.forced += batch[0]->force;
    arena_free(arena);
}

static void fake_call(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void fake_signal(struct executor *executor, struct job_call **batch, size_t count)
{
    fake_call(executor, batch, count);
    fake.signals++;
    fake.signal = batch[0]->signal;
    fake.signalled[0] = '\0';
    for (size_t i = 0; i < batch[0]->task_count; i++)
        snprintf(fake.signalled + strlen(fake.signalled), 8, "%d.", batch[0]->tasks[i]);
}

static void fake_output(struct executor *executor, struct job_call **batch, size_t count)
{
    fake_call(executor, batch, count);
    for (size_t i = 0; i < count; i++) {
        const struct job_call *call = batch[i];
        if (!call->ending)
            continue;
        fake.followed++;
        snprintf(fake.seen_to, sizeof(fake.seen_to), "%d ", fake.polite + fake.forced);
        for (size_t at = 0; at < call->task_count; at++)
            snprintf(fake.seen_to + strlen(fake.seen_to), 8, "%d.", call->tasks[at]);
    }
}

static void fake_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        batch[i]->result = fake.removal;
        batch[i]->rest = fake.rest;
        fake.removals++;
    }
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {.name = "local",
                                                      .ready = fake_ready,
                                                      .poll = fake_poll,
                                                      .cancel = fake_cancel,
                                                      .output = fake_output,
                                                      .loses_output = true,
                                                      .remove = fake_remove,
                                                      .signal = fake_signal,
                                                      .close = fake_close};

static size_t count_descriptors(void)
{
    DIR *descriptors = opendir("/proc/self/fd");
    size_t count = 0;
    while (readdir(descriptors))
        count++;
    closedir(descriptors);
    return count;
}

/* An array of the indexes 3, 5 and 8 runs. */
static int begin(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    open_spool(&track_stage, &operations, 1767268800000);
    open_templates();
    write_settings("executor: local\nsync: none\nkill_grace: 3s\n");
    const struct job_record record = {.id = TEXT(ID),
                                      .owner = TEXT("ann"),
                                      .uid = 1000,
                                      .gid = (gid_t)-1,
                                      .accepted = now,
                                      .request_file = TEXT("request.yaml"),
                                      .type = TEXT("array"),
                                      .executor = TEXT("local"),
                                      .cpus = 1000,
                                      .attempt = 1,
                                      .time_limit = 3600000,
                                      .signal_name = TEXT("USR1"),
                                      .signal_before = 600000,
                                      .array = TEXT("3,5,8"),
                                      .failure.exit_code = -1};
    put_job(STATE_SUBMITTED, &record,
            "2026-01-01T12:00:00.000Z accepted file=x\n"
            "2026-01-01T12:00:00.000Z intent attempt=1\n"
            "2026-01-01T12:00:00.000Z submitted attempt=1\n"
            "2026-01-01T12:00:01.000Z started attempt=1\n",
            NULL);
    open_stage();
    run_round_after(1000);
    return 0;
}

static void ask_to_kill(const char *tasks)
{
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(
        control_tasks_write(job, CONTROL_KILL, text_of(tasks), TEXT("bob"), 1001, now, &error), 0);
    close(job);
}

static void end(int task, int exit_code)
{
    fake.ended[task] = true;
    fake.exit_code[task] = exit_code;
}

/* The record of the job where it has come to, which is freed with the arena. */
static struct job_record ended_in(enum state state, struct arena *arena)
{
    struct job_record record;
    int job = open_job(ID, state);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    close(job);
    return record;
}

static void why_says(const char *words)
{
    struct buffer why = {0};
    int job = open_job(ID, STATE_FAILED);
    assert_int_equal(file_read_at(job, "why", 65536, &why, &error), 0);
    if (!text_contains(buffer_text(&why), text_of(words)))
        fail_msg("%.*s", (int)why.length, why.data);
    close(job);
    buffer_free(&why);
}

static void rounds_leave_nothing_open(void **state)
{
    (void)state;
    size_t before = count_descriptors();
    for (int round = 0; round < 3; round++)
        run_round_after(1000);
    assert_int_equal(count_descriptors(), before);
    close_stage(); /* the first round of a process reads logs, too */
    open_stage();
    run_round_after(1000);
    assert_int_equal(count_descriptors(), before);
}

static void it_is_written_down_and_told_politely_then_with_force(void **state)
{
    (void)state;
    ask_to_kill("5");
    run_round_after(1000);
    assert_string_equal(fake.told, "1.");
    assert_string_equal(fake.recorded, "5");
    assert_int_equal(fake.polite, 1);
    run_round_after(1000);
    assert_true(fake.killed[1] && !fake.killed[0]);
    assert_int_equal(fake.polite + fake.forced, 1);
    /* A second one has its own grace. */
    ask_to_kill("8");
    run_round_after(1000);
    assert_string_equal(fake.told, "2.");
    assert_int_equal(fake.polite, 2);
    run_round_after(2000);
    assert_string_equal(fake.told, "1.");
    assert_int_equal(fake.forced, 1);
    end(1, 137);
    run_round_after(3000);
    assert_string_equal(fake.told, "2.");
    assert_string_equal(fake.recorded, "5,8");
}

/* What the scheduler ends by force itself is not forced before. */
static void nobody_is_forced_before_the_schedulers_grace_is_over(void **state)
{
    (void)state;
    fake.grace = 20000;
    ask_to_kill("5");
    run_round_after(1000);
    run_round_after(19999);
    assert_int_equal(fake.forced, 0);
    run_round_after(1);
    assert_int_equal(fake.forced, 1);
    end(1, 137);
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    run_round_after(1000);
    run_round_after(19999);
    assert_int_equal(fake.forced, 1);
    run_round_after(1);
    assert_int_equal(fake.forced, 2);
    assert_string_equal(fake.told, "");
}

/* Who keeps what tasks print last hears of their end before they do. */
static void what_they_print_last_is_seen_to_before(void **state)
{
    (void)state;
    ask_to_kill("5");
    run_round_after(1000);
    assert_string_equal(fake.seen_to, "0 1.");
    run_round_after(100);
    assert_int_equal(fake.followed, 1);
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    run_round_after(100);
    assert_string_equal(fake.seen_to, "1 ");
    assert_int_equal(fake.polite, 2);
    int followed = fake.followed;
    run_round_after(2100); /* and what it prints meanwhile is copied */
    assert_int_equal(fake.followed, followed + 1);
    assert_int_equal(fake.polite + fake.forced, 2);
    end(0, 143), end(1, 143), end(2, 143);
    run_round_after(1000);
    assert_true(in_state(ID, STATE_FAILED));
}

static void the_job_has_failed_though_all_ended_well(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    ask_to_kill("5");
    run_round_after(1000);
    end(0, 0), end(1, 0), end(2, 0);
    run_round_after(1000);
    struct job_record record = ended_in(STATE_FAILED, arena);
    assert_true(text_is(record.array_left, "5"));
    assert_true(text_is(record.failure.reason, "Killed"));
    assert_int_equal(record.failure.when, RETRY_NEVER);
    why_says("1 of 3 tasks was killed, that of the index 5, by bob at ");
    why_says("dlspool retry " ID);
    arena_free(arena);
}

static void what_fails_by_itself_decides(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    ask_to_kill("5");
    run_round_after(1000);
    end(0, 0), end(1, 143), end(2, 7);
    run_round_after(1000);
    struct job_record record = ended_in(STATE_FAILED, arena);
    assert_true(text_is(record.array_left, "5,8"));
    assert_true(text_is(record.failure.reason, "Exited"));
    why_says("1 of 3 tasks failed, that of the index 8, and 1 was killed, that of the index 5");
    arena_free(arena);
}

/* What would be said of it while retry.txt cannot be read might not be true. */
static void a_failure_is_judged_when_the_templates_can_be_read(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char name[PATH_MAX];
    snprintf(name, sizeof(name), "%s/templates.git", path);
    close_stage();
    assert_int_equal(unlink(name), 0);
    open_stage();
    end(0, 0), end(1, 0), end(2, 75);
    advance(1000);
    stage_kind->round(stage);
    assert_true(in_state(ID, STATE_SUBMITTED));
    open_templates();
    run_round_after(1000);
    struct job_record record = ended_in(STATE_FAILED, arena);
    assert_string_equal(record.failure.class.data, "transient");
    arena_free(arena);
}

/* It names another owner and another group, to whom what the job prints would be given. */
static void a_record_of_another_job_is_not_believed(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct job_record record = ended_in(STATE_SUBMITTED, arena);
    record.id = TEXT("other-0000000000001");
    int job = open_job(ID, STATE_SUBMITTED);
    close_stage();
    assert_int_equal(record_replace(job, &record, &error), 0);
    close(job);
    open_stage();
    run_round_after(1000);
    assert_true(text_is(ended_in(STATE_SUBMITTED, arena).id, ID));
    arena_free(arena);
}

static void one_that_had_ended_is_left_as_it_was(void **state)
{
    (void)state;
    end(1, 0);
    ask_to_kill("5");
    run_round_after(1000);
    run_round_after(1000);
    assert_int_equal(fake.polite + fake.forced, 0);
    assert_false(fake.killed[1]);
    end(0, 0), end(2, 0);
    run_round_after(1000);
    assert_true(in_state(ID, STATE_DONE));
}

static void the_whole_job_may_be_killed_at_the_same_time(void **state)
{
    (void)state;
    ask_to_kill("5");
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    run_round_after(1000);
    assert_string_equal(fake.told, "");
    assert_int_equal(fake.polite, 1);
    assert_int_equal(fake.forced, 0);
    run_round_after(4000);
    assert_string_equal(fake.told, "");
    assert_int_equal(fake.forced, 1);
    end(0, 143), end(1, 143), end(2, 143);
    run_round_after(1000);
    why_says("The job was killed by ann at ");
}

/* The attempt runs all but the tasks 9 and 10, which ann holds. */
static void hold_two(void)
{
    struct arena *arena = arena_new();
    struct job_record record;
    const struct control_request ann = {.by = "ann", .uid = 1000, .when = now};
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.array_held = TEXT("9,10");
    assert_int_equal(record_replace(job, &record, &error), 0);
    assert_int_equal(hold_tasks_add(job, TEXT("9,10"), &ann, &error), 0);
    close(job);
    arena_free(arena);
}

static void a_job_of_which_only_held_tasks_are_left_waits(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct job_record record;
    hold_two();
    end(0, 0), end(1, 0), end(2, 0);
    run_round_after(1000);
    assert_true(in_state(ID, STATE_HELD));
    int job = open_job(ID, STATE_HELD);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    assert_true(text_is(record.array_left, "9,10"));
    assert_false(record.failed);
    close(job);
    arena_free(arena);
}

static void one_that_fails_beside_them_has_failed(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    hold_two();
    end(0, 0), end(1, 0), end(2, 7);
    run_round_after(1000);
    struct job_record record = ended_in(STATE_FAILED, arena);
    assert_true(text_is(record.array_left, "8-10"));
    why_says("1 of 3 tasks failed, that of the index 8, and 2 are held, those of the indexes 9,10");
    arena_free(arena);
}

/* The executor has forgotten it by then: it must not be asked. */
static void that_it_goes_to_held_is_known_after_a_restart(void **state)
{
    (void)state;
    hold_two();
    end(0, 0), end(1, 0), end(2, 0);
    fake.removal = -1;
    run_round_after(1000);
    assert_true(in_state(ID, STATE_SUBMITTED));
    close_stage();
    fake.removal = 0;
    fake.vanished = true;
    open_stage();
    run_round_after(1000);
    assert_true(in_state(ID, STATE_HELD));
}

/* What the scheduler puts off is asked for again when it says, or a little later, and not at each round. */
static void what_is_put_off_waits_as_long_as_the_scheduler_asks(void **state)
{
    (void)state;
    end(0, 0), end(1, 0), end(2, 0);
    fake.removal = -1;
    fake.rest = 4000;
    run_round_after(1000);
    assert_int_equal(fake.removals, 1);
    fake.removal = 0;
    fake.rest = 0;
    for (int i = 0; i < 3; i++)
        run_round_after(1300);
    assert_int_equal(fake.removals, 1);
    run_round_after(1200);
    assert_int_equal(fake.removals, 2);
    assert_true(in_state(ID, STATE_DONE));
}

/* A job of three retries, of which two are used up, loses its log. */
static void retries_are_known_without_the_log(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct job_record record;
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.retries = 2;
    record.retried = 2;
    assert_int_equal(record_replace(job, &record, &error), 0);
    assert_int_equal(unlinkat(job, "log", 0), 0);
    assert_int_equal(mkdirat(job, "log", 0755), 0);
    close(job);
    end(0, 0), end(1, 0), end(2, 7);
    run_round_after(1000);
    assert_int_equal(ended_in(STATE_FAILED, arena).failure.when, RETRY_NEVER);
    arena_free(arena);
}

/* What it waits for is said once, and patience with it does not begin anew. */
static void a_restart_repeats_no_reason_to_wait(void **state)
{
    (void)state;
    fake.waits_for = "ErrImagePull: dial tcp: i/o timeout, \"quoted\"";
    run_round_after(1000);
    int64_t since = now;
    assert_int_equal(find_events(ID, STATE_SUBMITTED, "waiting", NULL), 1);
    for (int i = 0; i < 3; i++) {
        close_stage();
        open_stage();
        run_round_after(60000);
        assert_int_equal(find_events(ID, STATE_SUBMITTED, "waiting", NULL), 1);
        assert_string_equal(fake.waited_for, fake.waits_for);
        assert_int_equal(fake.waited_since, since);
    }
    fake.waits_for = "Unschedulable";
    run_round_after(1000);
    run_round_after(1000);
    assert_int_equal(find_events(ID, STATE_SUBMITTED, "waiting", NULL), 2);
    assert_string_equal(fake.waited_for, "Unschedulable");
}

/* Since when a task cannot be reached is in the log, once, and is known after a restart; of another piece
 * nothing is. */
static void a_restart_has_no_new_patience_with_what_is_lost(void **state)
{
    (void)state;
    fake.unreachable = "sweep-a1-main-0-x7k2p";
    run_round_after(1000);
    int64_t since = now;
    for (int i = 0; i < 3; i++) {
        close_stage();
        open_stage();
        run_round_after(60000);
        assert_int_equal(find_events(ID, STATE_SUBMITTED, "unreachable", NULL), 1);
        assert_int_equal(fake.unreachable_since, since);
    }
    fake.unreachable = "sweep-a1-main-0-q9r8s";
    run_round_after(1000);
    assert_int_equal(fake.unreachable_since, 0);
    run_round_after(1000);
    assert_int_equal(fake.unreachable_since, now - 1000);
    assert_int_equal(find_events(ID, STATE_SUBMITTED, "unreachable", NULL), 2);
}

static void a_restart_forgets_nothing(void **state)
{
    (void)state;
    ask_to_kill("5");
    run_round_after(1000);
    close_stage();
    end(0, 0), end(1, 0), end(2, 0);
    open_stage();
    run_round_after(1000);
    run_round_after(1000);
    assert_true(in_state(ID, STATE_FAILED));
    why_says("1 of 3 tasks was killed, that of the index 5, by bob");
}

/* Each task when its own time is nearly over, once, also after a restart. */
static void tasks_are_told_before_their_time_is_over(void **state)
{
    (void)state;
    int64_t began = now;
    fake.started[0] = began;
    fake.started[1] = began + 10000;
    run_round_after(2999000);
    assert_int_equal(fake.signals, 0);
    run_round_after(1000);
    assert_int_equal(fake.signal, SIGUSR1);
    assert_string_equal(fake.signalled, "0.");
    run_round_after(5000);
    assert_int_equal(fake.signals, 1);
    close_stage();
    open_stage();
    run_round_after(4000);
    assert_int_equal(fake.signals, 1);
    run_round_after(1000);
    assert_string_equal(fake.signalled, "1.");
    fake.started[2] = now - 3500000;
    end(2, 0);
    run_round_after(1000);
    assert_int_equal(fake.signals, 2);
    struct buffer log = {0};
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(eventlog_read(job, &log, &error), 0);
    assert_non_null(strstr(log.data, " signalled attempt=1 signal=USR1 tasks=0\n"));
    assert_non_null(strstr(log.data, " signalled attempt=1 signal=USR1 tasks=1\n"));
    close(job);
    buffer_free(&log);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, close_spool)
    const struct CMUnitTest tests[] = {
        TEST(rounds_leave_nothing_open),
        TEST(it_is_written_down_and_told_politely_then_with_force),
        TEST(nobody_is_forced_before_the_schedulers_grace_is_over),
        TEST(what_they_print_last_is_seen_to_before),
        TEST(the_job_has_failed_though_all_ended_well),
        TEST(what_fails_by_itself_decides),
        TEST(a_failure_is_judged_when_the_templates_can_be_read),
        TEST(a_record_of_another_job_is_not_believed),
        TEST(one_that_had_ended_is_left_as_it_was),
        TEST(the_whole_job_may_be_killed_at_the_same_time),
        TEST(a_job_of_which_only_held_tasks_are_left_waits),
        TEST(one_that_fails_beside_them_has_failed),
        TEST(that_it_goes_to_held_is_known_after_a_restart),
        TEST(what_is_put_off_waits_as_long_as_the_scheduler_asks),
        TEST(retries_are_known_without_the_log),
        TEST(a_restart_repeats_no_reason_to_wait),
        TEST(a_restart_has_no_new_patience_with_what_is_lost),
        TEST(a_restart_forgets_nothing),
        TEST(tasks_are_told_before_their_time_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
