/* tests/unit/local_once_test.c - exactly once, against a podman that misbehaves on order
 *
 * A sweep does a action once undisturbed, to learn its exchanges; then, for every byte of every
 * exchange, from a connection closed before it is read to one closed behind its last byte, does it
 * with the connection cut there, again and again as the stages do, until it is done; and then
 * looks at what podman has.
 *
 * DLSPOOL_EVERY_BYTE=1 takes every byte.  By default every 23rd is taken, under sanitizers every 139th.
 *
 * Seen to fail with: tests/mutants/podman-refuses-what-exists.patch, labels-name-by-chance.patch,
 * labels-take-any-for-ours.patch, local-start-*.patch, local-submit-*.patch, layout-forgets-refusals.patch,
 * layout-remembers-refusals.patch and http-takes-cut-headers.patch.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "executors/registry/registry.h"
#include "tests/unit/stand_in.h"

#define HEAD "kind: dlspool/local/v1\ntasks:\n"
#define TASK(role) "- {role: " role ", image: host, cpus: 0.01, memory: 1Mi, command: [x]}\n"

enum {
    REQUEST_TIMEOUT = 300, /* milliseconds, as in the settings below */
    CALL_LIMIT = 30000,    /* for one call of the executor, whatever happens */
    TRIES = 4,
    LONGEST_WAIT = 30000, /* milliseconds */
    EXCHANGES_MAX = 64
};

struct job {
    const char *what, *id, *manifest, *runs, *running, *exited;
};

static const struct job single = {
    .what = "one task",
    .id = "s-1",
    .manifest = HEAD TASK("main"),
    .runs = "s-1-a1-main-0=1",
    .running = "s-1-a1-main-0=running",
    .exited = "s-1-a1-main-0=exited",
};
static const struct job pair = {
    .what = "a pod of two",
    .id = "p-1",
    .manifest = HEAD TASK("a") TASK("b"),
    .runs = "p-1-a1-a-0=1 p-1-a1-b-0=1",
    .running = "p-1-a1-a-0=running p-1-a1-b-0=running p-1-a1-infra=running",
    .exited = "p-1-a1-a-0=exited p-1-a1-b-0=exited p-1-a1-infra=running",
};

static struct arena *arena;
static struct value *settings;
static struct executor *executor;
static struct error last_error;
static long cuts;

static int start(void **state)
{
    (void)state;
    char text[512];
    if (stand_in_start())
        return -1;
    snprintf(text, sizeof(text),
             "executor: local\nlocal:\n  socket: %s/podman\n  cpus: 64\n  memory: 64Gi\n"
             "  request_timeout: %dms\n  in_flight: 1\n",
             stand_in.directory, REQUEST_TIMEOUT);
    arena = arena_new();
    settings = yaml_read(arena, text_of(text), "dlspool.yaml", &yaml_trusted_limits, &last_error);
    executor = settings ? registry_open(settings, "test", stand_in.directory, &last_error) : NULL;
    if (!executor)
        print_message("%s\n", last_error.text);
    return executor ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    if (executor)
        executor->operations->close(executor);
    arena_free(arena);
    stand_in_stop();
    print_message("# %ld cut positions\n", cuts);
    return 0;
}

/* ---- actions: true when done, false when to be tried again ---- */

typedef bool action(const struct job *job);

/* As the submit stage does: it is repeated while no outcome of it could be noted. */
static bool repeated;

static struct submission hand_in(const struct job *job)
{
    struct submission submission = fixture_submission(job->id, job->manifest);
    struct submission *batch[] = {&submission};
    submission.repeated = repeated;
    int64_t begin = clock_elapsed();
    executor->operations->submit(executor, batch, 1);
    if (clock_elapsed() - begin > CALL_LIMIT)
        fail_msg("submit took %lld ms", (long long)(clock_elapsed() - begin));
    last_error = submission.error;
    repeated = submission.outcome == SUBMIT_UNKNOWN ||
               (repeated && submission.outcome == SUBMIT_UNAVAILABLE);
    return submission;
}

static bool submit_job(const struct job *job)
{
    enum submit_outcome outcome = hand_in(job).outcome;
    if (outcome != SUBMIT_ACCEPTED && outcome != SUBMIT_UNKNOWN && outcome != SUBMIT_UNAVAILABLE)
        fail_msg("outcome %d: %s", outcome, last_error.text);
    return outcome == SUBMIT_ACCEPTED;
}

static bool ready(const struct job *job)
{
    (void)job;
    return executor->operations->ready(executor, &last_error) == 0;
}

static bool ask_capacity(const struct job *job)
{
    struct capacity capacity;
    if (executor->operations->capacity(executor, &capacity, &last_error))
        return false;
    assert_int_equal(capacity.cpus - capacity.cpus_free, job == &pair ? 20 : 10);
    return true;
}

static bool poll_job(const struct job *job, enum job_phase phase, int exit_code)
{
    struct job_poll poll = {.id = job->id, .attempt = 1}, *polls[] = {&poll};
    struct arena *scratch = arena_new();
    int result = executor->operations->poll(executor, scratch, polls, 1, &last_error);
    arena_free(scratch);
    if (result) {
        assert_int_equal(poll.phase, PHASE_UNKNOWN);
        return false;
    }
    if (poll.phase != phase || poll.exit_code != exit_code)
        fail_msg("phase %d, exit code %d: %s", poll.phase, poll.exit_code, poll.detail);
    return true;
}

static bool poll_running(const struct job *job)
{
    return poll_job(job, PHASE_RUNNING, 0);
}

static bool poll_failed(const struct job *job)
{
    return poll_job(job, PHASE_FAILED, 3);
}

static bool cancel_job(const struct job *job)
{
    return executor_cancel(executor, job->id, 1, true, &last_error) == 0;
}

static bool remove_job(const struct job *job)
{
    return executor_remove(executor, job->id, 1, &last_error) == 0;
}

/* ---- sweeps ---- */

struct sweep {
    const struct job *job;
    const char *prepare; /* commands before each action */
    action *action;
    const char *states; /* expected in the end */
};

/* Of the bytes, one in so many is taken. */
static long step_of_bytes(void)
{
    if (getenv("DLSPOOL_EVERY_BYTE"))
        return 1;
#ifdef __SANITIZE_ADDRESS__
    return 139;
#else
    return 23;
#endif
}

struct exchange {
    char call[16];
    long length; /* of request and answer */
};

static size_t read_exchanges(struct exchange exchanges[static EXCHANGES_MAX])
{
    size_t count = 0;
    long request, answer;
    int used;
    for (const char *at = order("exchanges"); *at && count < EXCHANGES_MAX; at += used) {
        if (sscanf(at, " %15[^:]:%ld:%ld%n", exchanges[count].call, &request, &answer, &used) != 3)
            break;
        exchanges[count++].length = request + answer;
    }
    return count;
}

static void check(const struct sweep *sweep, const char *where)
{
    char expected[512];
    snprintf(expected, sizeof(expected), "%s | %s | none", sweep->job->runs, sweep->states);
    const char *found = order("runs\nstates\ncomplaints");
    if (strcmp(found, expected) != 0)
        fail_msg("%s: found runs, states and complaints %s, expected %s", where, found, expected);
}

static void cut_once(const struct sweep *sweep, const struct exchange *exchange, size_t number,
                     long byte)
{
    char where[256];
    snprintf(where, sizeof(where), "%s, exchange %zu (%.15s) cut after %ld of %ld bytes",
             sweep->job->what, number, exchange->call, byte, exchange->length);
    order("%s\narm\ncut %zu %ld", sweep->prepare, number, byte);
    int tries = 1;
    while (!sweep->action(sweep->job))
        if (++tries > TRIES)
            fail_msg("%s: not done after %d tries: %s", where, TRIES, last_error.text);
    check(sweep, where);
    cuts++;
}

static void cut_everywhere(const struct sweep *sweep)
{
    struct exchange exchanges[EXCHANGES_MAX];
    int64_t begin = clock_elapsed();
    long before = cuts, step = step_of_bytes();
    order("%s\narm", sweep->prepare);
    if (!sweep->action(sweep->job))
        fail_msg("undisturbed: %s", last_error.text);
    check(sweep, "undisturbed");
    size_t count = read_exchanges(exchanges);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        for (long byte = 0; byte <= exchanges[i].length; byte++)
            if (byte % step == 0 || byte == exchanges[i].length)
                cut_once(sweep, &exchanges[i], i, byte);
    print_message("# %s: %zu exchanges, %ld cuts, %.1f s\n", sweep->job->what, count, cuts - before,
                  (double)(clock_elapsed() - begin) / 1000);
}

static const struct job *const jobs[] = {&single, &pair};
enum { JOBS = ARRAY_COUNT(jobs) };

static void a_submission_cut_at_any_byte_runs_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++)
        cut_everywhere(&(struct sweep){jobs[i], "reset", submit_job, jobs[i]->running});
}

/* A try before was cut when all was made and nothing was started. */
static void a_submission_that_finishes_another_runs_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        order("reset\norder start hang");
        assert_int_equal(hand_in(jobs[i]).outcome, SUBMIT_UNKNOWN);
        assert_string_equal(order("runs"), "none");
        order("save");
        cut_everywhere(&(struct sweep){jobs[i], "restore", submit_job, jobs[i]->running});
    }
}

/* podman does it, and then says that it was there already. */
static void a_submission_that_is_answered_twice_runs_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++)
        cut_everywhere(
            &(struct sweep){jobs[i],
                            "reset\norder create twice always\norder create-pod twice always\n"
                            "order start twice always",
                            submit_job, jobs[i]->running});
}

static void make_running(const struct job *job)
{
    order("reset");
    if (!submit_job(job))
        fail_msg("%s", last_error.text);
    order("save");
}

static void what_follows_cut_at_any_byte_ends_well(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        const char *end =
            i == 0 ? "restore\nend s-1-a1-main-0 3" : "restore\nend p-1-a1-a-0 3\nend p-1-a1-b-0 0";
        make_running(jobs[i]);
        cut_everywhere(&(struct sweep){jobs[i], "restore", ready, jobs[i]->running});
        cut_everywhere(&(struct sweep){jobs[i], "restore", ask_capacity, jobs[i]->running});
        cut_everywhere(&(struct sweep){jobs[i], "restore", poll_running, jobs[i]->running});
        cut_everywhere(&(struct sweep){jobs[i], end, poll_failed, jobs[i]->exited});
        cut_everywhere(&(struct sweep){jobs[i], "restore", cancel_job, jobs[i]->exited});
        cut_everywhere(&(struct sweep){jobs[i], end, remove_job, "none"});
        cut_everywhere(&(struct sweep){jobs[i], "restore", remove_job, "none"});
    }
}

/* ---- misbehaviour ---- */

static bool is_defined(enum submit_outcome outcome)
{
    return outcome == SUBMIT_ACCEPTED || outcome == SUBMIT_UNAVAILABLE ||
           outcome == SUBMIT_REFUSED || outcome == SUBMIT_UNKNOWN;
}

/* Whatever `call` is answered once: the outcome is one that the stages know, with a sentence, in
 * time; and the job, handed in again until podman has it or refuses it, ran once or not at all. */
static void misbehave_once(const struct job *job, const char *call, const char *how)
{
    enum submit_outcome outcome = SUBMIT_UNKNOWN;
    int64_t begin = clock_elapsed();
    order("reset\norder %s %s", call, how);
    for (int tries = 0; outcome == SUBMIT_UNKNOWN || outcome == SUBMIT_UNAVAILABLE; tries++) {
        /* On a busy machine more than one answer comes after the time-out. */
        if (tries >= TRIES && clock_elapsed() - begin > LONGEST_WAIT)
            fail_msg("%s %s: not done after %d tries: %s", call, how, tries, last_error.text);
        outcome = hand_in(job).outcome;
        if (!is_defined(outcome) || (outcome != SUBMIT_ACCEPTED && !last_error.text[0]))
            fail_msg("%s %s: outcome %d: %s", call, how, outcome, last_error.text);
    }
    char expected[512];
    snprintf(expected, sizeof(expected), "%s | %s | none", job->runs, job->running);
    const char *found = order("runs\nstates\ncomplaints");
    bool refused = outcome == SUBMIT_REFUSED;
    if (refused ? !strstr(found, " | none | none") || strstr(found, "=2") : strcmp(found, expected))
        fail_msg("%s %s: outcome %d (%s): found %s", call, how, outcome, last_error.text, found);
}

static void whatever_is_answered_no_task_runs_twice(void **state)
{
    (void)state;
    static const char *const calls[] = {"ping", "list", "create-pod", "create", "start"};
    static const char *const ways[] = {"close",
                                       "hang",
                                       "hang-after",
                                       "slow 20",
                                       "status 500",
                                       "status 503",
                                       "status 429 7",
                                       "status 404",
                                       "status 409",
                                       "status-after 500",
                                       "status-after 503",
                                       "late 50 500",
                                       "late 50 503",
                                       "late 1000 500",
                                       "garbage",
                                       "empty",
                                       "huge 100000",
                                       "huge 17000000",
                                       "twice"};
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++)
        for (size_t j = 0; j < ARRAY_COUNT(ways); j++)
            for (size_t k = 0; k < JOBS; k++)
                if (jobs[k] == &pair || strcmp(calls[i], "create-pod") != 0)
                    misbehave_once(jobs[k], calls[i], ways[j]);
}

static void each_misbehaviour_has_its_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        enum submit_outcome outcome;
    } table[] = {
        {"ping hang", SUBMIT_UNAVAILABLE},
        {"ping status 503", SUBMIT_UNAVAILABLE},
        {"list hang", SUBMIT_UNAVAILABLE},
        {"list garbage", SUBMIT_UNAVAILABLE},
        {"list empty", SUBMIT_UNAVAILABLE},
        {"list status 500", SUBMIT_UNAVAILABLE},
        {"list huge 17000000", SUBMIT_UNAVAILABLE},
        {"create close", SUBMIT_UNKNOWN},
        {"create hang", SUBMIT_UNKNOWN},
        {"create hang-after", SUBMIT_UNKNOWN},
        {"create slow 20", SUBMIT_UNKNOWN},
        {"create status 429 7", SUBMIT_UNAVAILABLE},
        {"create status 502", SUBMIT_UNAVAILABLE},
        {"create status 503", SUBMIT_UNAVAILABLE},
        {"create status 500", SUBMIT_REFUSED},
        {"create late 1000 500", SUBMIT_UNKNOWN},
        {"create twice", SUBMIT_ACCEPTED},
        {"create foreign", SUBMIT_REFUSED},
        {"create-pod hang", SUBMIT_UNKNOWN},
        {"create-pod status 503", SUBMIT_UNAVAILABLE},
        {"create-pod twice", SUBMIT_ACCEPTED},
        {"create-pod foreign", SUBMIT_REFUSED},
        {"start close", SUBMIT_UNKNOWN},
        {"start hang-after", SUBMIT_UNKNOWN},
        {"start status 503", SUBMIT_UNKNOWN},
        {"start status-after 503", SUBMIT_UNKNOWN},
        {"start status 500", SUBMIT_REFUSED},
        {"start status-after 500", SUBMIT_ACCEPTED},
        {"start twice", SUBMIT_ACCEPTED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        order("reset\norder %s", table[i].order);
        bool pod = strncmp(table[i].order, "create-pod", strlen("create-pod")) == 0;
        enum submit_outcome outcome = hand_in(pod ? &pair : &single).outcome;
        if (outcome != table[i].outcome)
            fail_msg("%s: outcome %d, expected %d: %s", table[i].order, outcome, table[i].outcome,
                     last_error.text);
    }
}

static void a_foreign_container_is_refused_and_left_alone(void **state)
{
    (void)state;
    static const char sentence[] = "a container named s-1-a1-main-0 is there already and was not "
                                   "made for this job: remove it (podman rm s-1-a1-main-0), or "
                                   "submit the job under another name";
    static const char *const foreign[] = {
        "foreign s-1-a1-main-0", "order create foreign",
        "foreign s-1-a1-main-0 dlspool.spool=other dlspool.job=s-1 dlspool.attempt=1"};
    for (size_t i = 0; i < ARRAY_COUNT(foreign); i++) {
        order("reset\n%s", foreign[i]);
        assert_int_equal(hand_in(&single).outcome, SUBMIT_REFUSED);
        assert_string_equal(last_error.text, sentence);
        assert_string_equal(order("states\nruns"), "s-1-a1-main-0=created | none");
        if (!remove_job(&single))
            fail_msg("%s", last_error.text);
        assert_string_equal(order("states\nruns"), "s-1-a1-main-0=created | none");
    }
    /* Ours by its labels, made from another manifest, and it has run. */
    order("reset\nforeign s-1-a1-main-0 dlspool.spool=test dlspool.job=s-1 dlspool.attempt=1 "
          "dlspool.manifest=other\nend s-1-a1-main-0 0");
    assert_int_equal(hand_in(&single).outcome, SUBMIT_REFUSED);
    assert_string_equal(last_error.text,
                        "attempt 1 of this job was started from another manifest already");
    assert_string_equal(order("states"), "s-1-a1-main-0=exited");
    /* The infra container's name, and the pod's. */
    static const char *const names[] = {"p-1-a1", "p-1-a1-infra", "p-1-a1-b-0"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char expected[64];
        order("reset\nforeign %s", names[i]);
        assert_int_equal(hand_in(&pair).outcome, SUBMIT_REFUSED);
        assert_non_null(strstr(last_error.text, "is there already and was not made for this job"));
        snprintf(expected, sizeof(expected), "%s=created | none", names[i]);
        assert_string_equal(order("states\nruns"), expected);
    }
}

static void a_service_that_was_gone_is_found_again(void **state)
{
    (void)state;
    order("reset\ndeaf");
    assert_int_equal(hand_in(&single).outcome, SUBMIT_UNAVAILABLE);
    assert_non_null(strstr(last_error.text, "podman does not answer at "));
    struct job_poll poll = {.id = "s-1", .attempt = 1}, *polls[] = {&poll};
    assert_int_equal(executor->operations->poll(executor, arena, polls, 1, &last_error), -1);
    assert_int_equal(poll.phase, PHASE_UNKNOWN);
    order("hear");
    assert_true(submit_job(&single));
    assert_string_equal(order("runs"), single.runs);
}

/* A service that answers /_ping and hangs at everything that changes something is asked for one such thing
 * only, however many jobs there are; when it is well again each runs once. */
static void a_batch_waits_no_longer_than_one_job(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    static const char *const hanging[] = {"create", "start", "*"};
    struct submission submissions[COUNT], *batch[COUNT];
    char ids[COUNT][16];
    for (size_t h = 0; h < ARRAY_COUNT(hanging); h++) {
        order("reset\norder %s hang always", hanging[h]);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < COUNT; i++) {
                snprintf(ids[i], sizeof(ids[i]), "s-%d", i);
                submissions[i] = fixture_submission(ids[i], single.manifest);
                batch[i] = &submissions[i];
            }
            char count[32];
            snprintf(count, sizeof(count), "count %s", hanging[h]);
            long before = atol(order("%s", count));
            executor->operations->submit(executor, batch, COUNT);
            if (round == 0)
                assert_int_equal(atol(order("%s", count)), before + 1);
            for (int i = 0; i < COUNT; i++)
                assert_true(round ? submissions[i].outcome == SUBMIT_ACCEPTED
                                  : submissions[i].outcome == SUBMIT_UNKNOWN ||
                                        submissions[i].outcome == SUBMIT_UNAVAILABLE);
            if (round == 0)
                order("save\nrestore");
        }
        assert_null(strstr(order("runs"), "=2"));
        int runs = 0;
        for (const char *at = stand_in.reply; (at = strstr(at, "=1")); at++)
            runs++;
        assert_int_equal(runs, COUNT);
    }
}

/* Somebody else's container says that it is a task of the job, in a way in which we say it not. */
static void labels_that_are_not_ours_are_nobodys(void **state)
{
    (void)state;
    static const char *const strange[] = {
        "attempt=4294967297 dlspool.role=main dlspool.index=0", /* 1, cut off to 32 bits */
        "attempt=1 dlspool.role=main dlspool.index=2147483648",
        "attempt=1 dlspool.role=main dlspool.index=-1",
        "attempt=1 dlspool.role=main dlspool.index=0x1",
        "attempt=1 dlspool.role=main dlspool.index=",
        "attempt=1 dlspool.role=main",
        "attempt=+1 dlspool.role=main dlspool.index=0",
        "attempt=1 dlspool.role=../../etc dlspool.index=0",
        "attempt=1 dlspool.role=a\033[2J dlspool.index=0",
        "attempt=1 dlspool.role=-rf dlspool.index=0",
        "attempt=1 dlspool.role= dlspool.index=0",
        "attempt=1 dlspool.index=0 "
        "dlspool.role=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < ARRAY_COUNT(strange); i++) {
        order("reset\nforeign x dlspool.spool=test dlspool.job=s-1 dlspool.tasks=1 "
              "dlspool.%s\nend x 3",
              strange[i]);
        struct job_poll poll = {.id = "s-1", .attempt = 1}, *polls[] = {&poll};
        assert_int_equal(executor->operations->poll(executor, arena, polls, 1, &last_error), 0);
        if (poll.phase != PHASE_VANISHED || poll.task_count)
            fail_msg("%s: phase %d, %zu tasks", strange[i], poll.phase, poll.task_count);
    }
    /* Room that it says it takes is counted, without overflow. */
    order("reset\nforeign x dlspool.spool=test dlspool.cpus=9223372036854775807 "
          "dlspool.memory=9223372036854775807\nforeign y dlspool.spool=test "
          "dlspool.cpus=9223372036854775807 dlspool.memory=9223372036854775807");
    struct capacity capacity;
    assert_int_equal(executor->operations->capacity(executor, &capacity, &last_error), 0);
    assert_int_equal(capacity.memory_free, 0);
    assert_int_equal(hand_in(&single).outcome, SUBMIT_NO_ROOM);
}

/* The second task cannot be started, when the first runs already: the first is removed, and runs no
 * second time however that goes and whatever becomes of podman's trouble. */
static void a_task_that_cannot_be_started_takes_the_others_with_it(void **state)
{
    (void)state;
    static const char refused[] = "order start slow 0\norder start slow 0\norder start status 500";
    static const char *const removals[] = {"",
                                           "order remove hang",
                                           "order remove hang-after",
                                           "order remove close",
                                           "order remove status 500",
                                           "order remove status-after 503",
                                           "order remove garbage",
                                           "order inspect-pod hang",
                                           "order inspect-pod status 500",
                                           "order remove-pod hang",
                                           "order remove-pod hang-after",
                                           "order remove-pod close",
                                           "order remove-pod status-after 500"};
    for (size_t i = 0; i < ARRAY_COUNT(removals); i++) {
        order("reset\n%s", refused);
        if (removals[i][0])
            order("%s", removals[i]);
        enum submit_outcome outcome = SUBMIT_UNKNOWN;
        for (int tries = 0; outcome == SUBMIT_UNKNOWN || outcome == SUBMIT_UNAVAILABLE; tries++) {
            if (tries == TRIES)
                fail_msg("%s: not done after %d tries: %s", removals[i], tries, last_error.text);
            outcome = hand_in(&pair).outcome;
        }
        if (outcome != SUBMIT_REFUSED || !strstr(last_error.text, "task b-0 could not be started"))
            fail_msg("%s: outcome %d: %s", removals[i], outcome, last_error.text);
        const char *found = order("runs\nstates\ncomplaints");
        if (strcmp(found, "p-1-a1-a-0=1 | none | none") != 0)
            fail_msg("%s: found %s", removals[i], found);
    }
    /* Killed before the refusal was noted, the submit stage hands it in again. */
    for (int i = 0; i < 2; i++) {
        repeated = true;
        assert_int_equal(hand_in(&pair).outcome, SUBMIT_REFUSED);
        assert_non_null(strstr(last_error.text, "task b-0 could not be started"));
        assert_string_equal(order("runs\nstates\ncomplaints"), "p-1-a1-a-0=1 | none | none");
    }
    /* Once it was, handing it in is a new try, also when that is cut short. */
    order("order start hang");
    assert_int_equal(hand_in(&pair).outcome, SUBMIT_UNKNOWN);
    assert_true(submit_job(&pair));
    assert_string_equal(order("runs"), "p-1-a1-a-0=2 p-1-a1-b-0=1");
}

/* One task of two is there and has run, the other is gone, and podman has no time: what has run is
 * left alone, and only the other is made when podman has time. */
static void what_ran_is_not_made_again_for_the_rest(void **state)
{
    (void)state;
    static const char *const busy[] = {"create status 503", "create-pod status 429 7",
                                       "start status 503"};
    char hash[SHA256_HEX_SIZE];
    sha256_hex(text_of(pair.manifest), hash);
    for (size_t i = 0; i < ARRAY_COUNT(busy); i++) {
        order("reset\nforeign p-1-a1-a-0 dlspool.spool=test dlspool.job=p-1 dlspool.attempt=1 "
              "dlspool.tasks=2 dlspool.role=a dlspool.index=0 dlspool.manifest=%s\n"
              "end p-1-a1-a-0 0\norder %s",
              hash, busy[i]);
        assert_int_equal(hand_in(&pair).outcome, SUBMIT_UNKNOWN);
        assert_true(submit_job(&pair));
        assert_string_equal(order("runs\nstates"), "p-1-a1-b-0=1 | p-1-a1-a-0=exited "
                                                   "p-1-a1-b-0=running p-1-a1-infra=running");
    }
}

static void output_is_what_the_tasks_printed(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof(path), "%s/output", stand_in.directory);
    mkdir(path, 0755);
    make_running(&pair);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3; i++)
        if (executor_output(executor, pair.id, 1, directory, false, &last_error))
            fail_msg("%s", last_error.text);
    struct buffer printed = {0};
    assert_int_equal(file_read_at(directory, "a-0.log", 4096, &printed, &last_error), 0);
    assert_string_equal(printed.data, "started p-1-a1-a-0\n");
    buffer_free(&printed);
    close(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_what_the_tasks_printed),
        cmocka_unit_test(each_misbehaviour_has_its_outcome),
        cmocka_unit_test(whatever_is_answered_no_task_runs_twice),
        cmocka_unit_test(what_ran_is_not_made_again_for_the_rest),
        cmocka_unit_test(labels_that_are_not_ours_are_nobodys),
        cmocka_unit_test(a_task_that_cannot_be_started_takes_the_others_with_it),
        cmocka_unit_test(a_foreign_container_is_refused_and_left_alone),
        cmocka_unit_test(a_service_that_was_gone_is_found_again),
        cmocka_unit_test(a_batch_waits_no_longer_than_one_job),
        cmocka_unit_test(a_submission_cut_at_any_byte_runs_once),
        cmocka_unit_test(a_submission_that_finishes_another_runs_once),
        cmocka_unit_test(a_submission_that_is_answered_twice_runs_once),
        cmocka_unit_test(what_follows_cut_at_any_byte_ends_well),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
