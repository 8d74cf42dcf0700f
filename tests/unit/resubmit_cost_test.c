/* tests/unit/resubmit_cost_test.c - a pass over failed/ and held/ costs the same beside 10 jobs and beside 1,000
 *
 * Counted are the system calls of the spool, of a pass of which nothing has to be told, and of one in which a few jobs
 * have something new.  Of the jobs of held/ some are held, some wait each for one of them, and some for a name that no
 * job has.  The clock is the test's, so that no insurance is due.
 *
 * Seen to fail with: tests/mutants/news-*.patch, tests/mutants/due-opens-*.patch.
 */
#include "tests/unit/stage_fixture.h"

#include "stages/resubmit/inside.h"
#include "stages/shared/control.h"

enum { FEW = 10, MANY = 1000 };

static const int64_t noon = 1767268800000, hour = 3600000; /* 2026-01-01 */
static struct system_calls real;
static int calls;

static int count_openat(int directory, const char *file, int flags, mode_t mode)
{
    calls++;
    return real.openat(directory, file, flags, mode);
}

static int count_fstatat(int directory, const char *file, struct stat *status, int flags)
{
    calls++;
    return real.fstatat(directory, file, status, flags);
}

static ssize_t count_getdents(int directory, void *entries, size_t length)
{
    calls++;
    return real.getdents(directory, entries, length);
}

static int be_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static void close_nothing(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {
    .name = "null", .ready = be_ready, .close = close_nothing};

static const char *name_of(enum state state, int number)
{
    static char id[ID_SIZE];
    snprintf(id, sizeof(id), "%s-%013d", state == STATE_HELD ? "held" : "failed", number);
    return id;
}

/* A job that is held by its owner, or that waits for the one before or for a name, or one that is tried again in a
 * day. */
static void put(enum state state, int number)
{
    char other[ID_SIZE];
    bool waits = state == STATE_HELD && number % 2, knows = number % 4 == 1;
    snprintf(other, sizeof(other), "%s", name_of(STATE_HELD, number - 1));
    struct awaited after = {.condition = TEXT("afterok"),
                            .job = knows ? text_of(other) : TEXT("never"),
                            .id = knows ? text_of(other) : TEXT("")};
    const char *id = name_of(state, number);
    struct job_record record = {.id = text_of(id),
                                .name = TEXT("a"),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .held = state == STATE_HELD ? now : 0,
                                .attempt = 1,
                                .after = waits ? &after : NULL,
                                .after_count = waits,
                                .failed = state == STATE_FAILED,
                                .failure.exit_code = -1};
    if (state == STATE_FAILED)
        record.failure = (struct failure){.when = number % 2 ? RETRY_AT : RETRY_NEVER,
                                          .reason = TEXT("Exited"),
                                          .class = TEXT("transient"),
                                          .failed = now,
                                          .next = number % 2 ? now + 24 * hour : 0,
                                          .delay = number % 2 ? 24 * hour : 0,
                                          .exit_code = 1};
    put_job(state, &record, "2026-01-01T12:00:00.000Z accepted file=a owner=ann uid=1000\n", NULL);
    if (state != STATE_HELD || waits)
        return;
    int job = open_job(id, state);
    assert_int_equal(control_file_write(job, CONTROL_HOLD, TEXT("ann"), 1000, now, &error), 0);
    close(job);
}

/* The calls of a pass. */
static int pass(void)
{
    calls = 0;
    run_round_after(6000);
    return calls;
}

/* Jobs are found, told what they wait for, and known to rest. */
static void pass_until_calm(int count)
{
    struct job_place place = {.state = STATE_FAILED};
    for (int i = 0; i < count; i++) { /* long ago, so that their times are no longer in doubt */
        const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
        snprintf(place.id, sizeof(place.id), "%s", name_of(STATE_FAILED, i));
        utimensat(spool.states[STATE_FAILED], name_of(STATE_FAILED, i), long_ago, 0);
        utimensat(spool.states[STATE_HELD], name_of(STATE_HELD, i), long_ago, 0);
    }
    for (int i = 0; i < 5; i++)
        pass();
}

static void a_pass_costs_what_has_changed(void **state)
{
    (void)state;
    int quiet[2], after_one[2];
    for (int round = 0, made = 0; round < 2; round++) {
        for (int end = round ? MANY : FEW; made < end; made++) {
            put(STATE_FAILED, made);
            put(STATE_HELD, made);
        }
        open_stage();
        pass_until_calm(made);
        for (int i = 0; i < made; i++) { /* what was told has changed the time of its directory */
            const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
            utimensat(spool.states[STATE_HELD], name_of(STATE_HELD, i), long_ago, 0);
        }
        pass();
        pass();
        quiet[round] = pass();
        assert_int_equal(((struct resubmitter *)(void *)stage)->held->kept, 0); /* all rest */
        struct job_place place = {.state = STATE_FAILED};
        snprintf(place.id, sizeof(place.id), "%s", name_of(STATE_FAILED, 2));
        int job = open_job(place.id, STATE_FAILED);
        job_notify(&spool, &place, job);
        close(job);
        after_one[round] = pass();
        close_stage();
    }
    print_message("a pass: %d calls beside %d jobs, %d beside %d; with news of one %d and %d\n",
                  quiet[0], 2 * FEW, quiet[1], 2 * MANY, after_one[0], after_one[1]);
    assert_in_range(quiet[1], 1, quiet[0] + 5);
    assert_in_range(after_one[1], quiet[1] + 1, after_one[0] + 5);
}

/* What was asked for before and during a rest is done, and who has gone is forgotten. */
static void news_are_acted_on(void **state)
{
    (void)state;
    struct job_place place = {.state = STATE_HELD};
    put(STATE_HELD, MANY);
    open_stage();
    pass();
    snprintf(place.id, sizeof(place.id), "%s", name_of(STATE_HELD, MANY));
    int job = open_job(place.id, STATE_HELD);
    assert_int_equal(control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, now, &error), 0);
    job_notify(&spool, &place, job);
    close(job);
    pass();
    assert_true(in_state(place.id, STATE_FAILED));
    close_stage();
}

static int open_all(void **state)
{
    (void)state;
    open_spool(&resubmit_stage, &operations, noon);
    open_templates();
    write_settings("executor: \"null\"\nsync: none\nretry_interval: 1s\nscan_interval: 10m\n");
    real = sys;
    sys.openat = count_openat;
    sys.fstatat = count_fstatat;
    sys.getdents = count_getdents;
    return 0;
}

static int close_all(void **state)
{
    sys = real;
    return close_spool(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_costs_what_has_changed),
        cmocka_unit_test(news_are_acted_on),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
