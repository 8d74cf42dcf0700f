/* tests/unit/give_up_test.c - a stage ends over one job: it is set aside, the others go on
 *
 * Each process of the stage is a child that ends by a signal when the executor is asked about the
 * bad job, or is given it; the guard is shared, as between the stage and the supervisor.
 */
#include "tests/unit/stage_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/sha256.h"
#include "spool/usage.h"
#include "stages/guard.h"

#define GOOD "good-0000000000001"
#define BAD "worse-0000000000001"
#define LAST "zebra-0000000000001"

static struct counts {
    int polls_of_bad, polls_of_good, cancelled, removed;
    int attempt; /* that was cancelled */
    bool away;   /* the executor cannot be told to end a job */
} * counts;      /* shared with the children */

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
    (void)arena;
    (void)problem;
    for (size_t i = 0; i < count; i++) {
        jobs[i]->phase = PHASE_RUNNING;
        counts->polls_of_good++;
        if (strcmp(jobs[i]->id, BAD) == 0) {
            counts->polls_of_bad++;
            raise(SIGKILL);
        }
    }
    return 0;
}

static void fake_call(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void fake_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    assert_string_equal(batch[0]->id, BAD);
    counts->attempt = batch[0]->attempt;
    assert_true(batch[0]->force);
    counts->cancelled++;
    fake_call(executor, batch, count);
    if (counts->away)
        batch[0]->result = error_set(&batch[0]->error, "it is away");
}

static void fake_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    assert_string_equal(batch[0]->id, BAD);
    counts->removed++;
    fake_call(executor, batch, count);
}

static void fake_close(struct executor *executor)
{
    (void)executor;
}

/* There is no room for the good ones, and to say so takes long. */
static void fake_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    advance(3000);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(batch[i]->id, BAD) == 0)
            raise(SIGKILL);
        batch[i]->outcome = SUBMIT_ACCEPTED;
        if (strncmp(batch[i]->id, "good", 4) != 0)
            continue;
        batch[i]->outcome = SUBMIT_NO_ROOM;
        error_set(&batch[i]->error, "no room");
    }
}

static const struct executor_operations operations = {.name = "fake",
                                                      .ready = fake_ready,
                                                      .poll = fake_poll,
                                                      .submit = fake_submit,
                                                      .cancel = fake_cancel,
                                                      .output = fake_call,
                                                      .remove = fake_remove,
                                                      .close = fake_close};

static void put_in(enum state state, const char *id)
{
    char digest[SHA256_HEX_SIZE];
    sha256_hex(TEXT(""), digest);
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .request_file = TEXT("request.yaml"),
                                .manifest_sha256 = text_of(digest),
                                .cpus = 1000,
                                .attempt = 1,
                                .failure.exit_code = -1};
    put_job(state, &record,
            state == STATE_SUBMITTED ? "2026-01-01T12:00:00.000Z submitted attempt=1\n" : "", NULL);
}

/* A process of the stage runs some rounds.  Did it end well? */
static bool run_process(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        open_stage();
        for (int i = 0; i < 3; i++)
            run_round_after(1000);
        close_stage();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    advance(1000);
    return status == 0;
}

static void blame(int times)
{
    for (int i = 0; i < times; i++) {
        guard_enter(guard_own(), BAD, 0);
        guard_count(guard_own(), "track");
    }
}

static bool has_file(const char *name)
{
    struct stat status;
    int job = open_job(BAD, STATE_SUBMITTED);
    bool result = fstatat(job, name, &status, 0) == 0;
    close(job);
    return result;
}

static void remove_file(const char *name)
{
    int job = open_job(BAD, STATE_SUBMITTED);
    assert_int_equal(unlinkat(job, name, 0), 0);
    close(job);
}

/* How many processes end before one does not. */
static int run_until_well(void)
{
    int ends = 0;
    while (!run_process())
        assert_true(++ends < 20);
    return ends;
}

static void begin(const struct stage_operations *kind)
{
    guard_set(NULL);
    guard_set(guard_new(&error));
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    open_spool(kind, &operations, 1767268801000);
    write_settings("executor: local\nsync: none\nbatch: 64\n");
}

static int set_up(void **state)
{
    (void)state;
    begin(&track_stage);
    put_in(STATE_SUBMITTED, GOOD);
    put_in(STATE_SUBMITTED, BAD);
    put_in(STATE_SUBMITTED, LAST);
    return 0;
}

static int tear_down(void **state)
{
    guard_free(guard_own());
    munmap(counts, sizeof(*counts));
    return close_spool(state);
}

static int take_account(void *context, const struct usage *usage)
{
    (void)context;
    assert_true(text_is(usage->id, BAD) && usage->attempt == 1);
    assert_true(text_is(usage->outcome, "failed") && text_is(usage->reason, "StopsStage"));
    assert_true(usage->accepted == 1767268800000 && usage->ended >= usage->accepted);
    return 7;
}

static void the_bad_one_is_set_aside(void **state)
{
    (void)state;
    /* The first ends are over batches, which become smaller, and blame nobody. */
    assert_true(run_until_well() > GUARD_MOST_TRIES);
    assert_true(in_state(BAD, STATE_FAILED));
    assert_true(in_state(GOOD, STATE_SUBMITTED));
    assert_true(in_state(LAST, STATE_SUBMITTED));
    assert_int_equal(counts->cancelled, 1);
    assert_int_equal(counts->removed, 1);
    struct job_record record;
    struct arena *arena = arena_new();
    int job = open_job(BAD, STATE_FAILED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    assert_true(text_is(record.failure.reason, "StopsStage"));
    assert_int_equal(record.failure.when, RETRY_NEVER);
    close(job);
    arena_free(arena);
    assert_int_equal(usage_scan(&spool, 0, take_account, NULL, &error), 7);
}

/* Its own machine's executor has it: from here nothing of it can be ended. */
static void what_runs_elsewhere_is_left(void **state)
{
    (void)state;
    struct executor_operations here = operations;
    here.of_this_machine = true;
    fake_executor.operations = &here;
    append_event(BAD, STATE_SUBMITTED,
                 "2026-01-01T12:00:00.000Z submitted attempt=1 host=another\n");
    blame(GUARD_MOST_TRIES);
    assert_int_equal(run_until_well(), 0);
    assert_true(in_state(BAD, STATE_SUBMITTED));
    assert_int_equal(counts->cancelled, 0);
}

/* Whatever runs of it, no other attempt is to run beside it. */
static void it_stays_until_the_executor_is_told(void **state)
{
    (void)state;
    blame(GUARD_MOST_TRIES);
    counts->away = true;
    assert_int_equal(run_until_well(), 0);
    assert_true(in_state(BAD, STATE_SUBMITTED));
    assert_true(counts->cancelled > 0);
    assert_int_equal(counts->removed, 0);
    counts->away = false;
    assert_int_equal(run_until_well(), 0);
    assert_true(in_state(BAD, STATE_FAILED));
    assert_int_equal(counts->removed, 1);
}

/* The stage ends over reading the record, too.  Nothing of the job is changed before the executor was
 * told. */
static void its_files_stay_until_then(void **state)
{
    (void)state;
    blame(GUARD_MOST_TRIES + 1);
    append_event(BAD, STATE_SUBMITTED,
                 "2026-01-01T12:00:01.000Z intent attempt=2\n"
                 "2026-01-01T12:00:01.000Z submitted attempt=2\n");
    counts->away = true;
    assert_int_equal(run_until_well(), 0);
    assert_true(has_file("job.yaml"));
    assert_false(has_file("job.yaml.damaged"));
    counts->away = false;
    assert_int_equal(run_until_well(), 0);
    assert_true(in_state(BAD, STATE_FAILED));
    assert_int_equal(counts->attempt, 2);
}

/* Which attempt is to be ended is in `progress`, too; without either nothing is guessed. */
static void an_attempt_that_is_not_known_is_not_ended(void **state)
{
    (void)state;
    blame(GUARD_MOST_TRIES + 1);
    remove_file("log");
    assert_int_equal(run_until_well(), 0);
    assert_true(in_state(BAD, STATE_SUBMITTED));
    assert_int_equal(counts->cancelled, 0);
    assert_int_equal(guard_tries(guard_own(), BAD), GUARD_SHUNNED);

    guard_clear(guard_own());
    blame(GUARD_MOST_TRIES + 1);
    struct progress progress = {.attempt = 3, .started = now, .since = now, .time = now};
    int job = open_job(BAD, STATE_SUBMITTED);
    assert_int_equal(progress_file_write(job, &progress, &error), 0);
    close(job);
    assert_int_equal(run_until_well(), 0);
    assert_true(in_state(BAD, STATE_FAILED));
    assert_int_equal(counts->attempt, 3);
}

/* What was passed over and has left the directory is a job like any other when it comes back. */
static void one_that_left_is_not_passed_over(void **state)
{
    (void)state;
    struct job_place place = {.state = STATE_SUBMITTED, .id = BAD};
    blame(GUARD_SHUNNED);
    assert_int_equal(run_until_well(), 0);
    assert_int_equal(guard_tries(guard_own(), BAD), GUARD_SHUNNED);
    assert_int_equal(job_move(&spool, &place, STATE_HELD, now, &error), 0);
    assert_int_equal(run_until_well(), 0);
    assert_int_equal(guard_tries(guard_own(), BAD), 0);
    assert_int_equal(guard_tries(guard_own(), GOOD), 0);
}

enum { GOOD_ONES = 40 };

static int set_up_submit(void **state)
{
    (void)state;
    char id[ID_SIZE];
    begin(&submit_stage);
    for (int i = 0; i < GOOD_ONES; i++) {
        snprintf(id, sizeof(id), "good%02d-0000000000001", i);
        put_in(STATE_RENDERED, id);
    }
    put_in(STATE_RENDERED, BAD);
    put_in(STATE_RENDERED, LAST);
    return 0;
}

/* Many are declined before its turn comes, for longer than fewer are taken after an end. */
static void it_is_found_behind_those_that_wait(void **state)
{
    (void)state;
    int ends = run_until_well();
    assert_true(ends > GUARD_MOST_TRIES && ends <= GUARD_MOST_TRIES + 3);
    assert_true(in_state(BAD, STATE_FAILED));
    assert_true(in_state(LAST, STATE_SUBMITTED));
    assert_true(in_state("good00-0000000000001", STATE_RENDERED));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_bad_one_is_set_aside),
        TEST(what_runs_elsewhere_is_left),
        TEST(it_stays_until_the_executor_is_told),
        TEST(its_files_stay_until_then),
        TEST(an_attempt_that_is_not_known_is_not_ended),
        TEST(one_that_left_is_not_passed_over),
        cmocka_unit_test_setup_teardown(it_is_found_behind_those_that_wait, set_up_submit,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
