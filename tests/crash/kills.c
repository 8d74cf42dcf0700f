/* tests/crash/kills.c - SIGKILL before every call of every stage, and of the recovery
 *
 * killed: each point is a fresh world; a process runs the stages and ends before its Nth call; the
 * invariants that always hold are checked; a fresh process recovers, an hour later, and runs until
 * nothing is left; all invariants are checked.  Points that leave the same files behind are
 * recovered once: of a process that was killed, nothing but the files is left.
 *
 * stopped: since that is so, the files can as well be looked at while the process waits before
 * each call that follows a change.  They are copied, and the copy recovered at once, in a fresh
 * process.  One run so tries all points, which makes 50 jobs affordable, and killing the recovery
 * in its turn; of the longer runs one state in a few is recovered, or with CRASH_EVERY=1 each.
 *
 * To see this fail: let accept_claims() of stages/intake/accept.c dispose of the claims before it
 * publishes the jobs (lost), or leave out the unlinkat() of claim_dispose() and `suspect`
 * (doubled), or let preempt_recall() of stages/track/preempt.c recall nothing (lost); or with
 * tests/mutants/shares-are-kept-as-of-another-time.patch (wrong), priority-forgets-the-top.patch (lost),
 * token-is-copied.patch (doubled) or
 * suspend-believes-its-log-alone.patch (wedged).  The naive scheduler below is a fault that is
 * built in, and is always caught.
 */
#include "tests/crash/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/crash/calls.h"
#include "tests/crash/drive.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum { MOST_ROUNDS = 400 };
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */
static const int64_t an_hour = 60 * 60 * 1000;   /* milliseconds */

struct kills {
    const struct scene *scene;
    bool naive;
    int64_t stride; /* one call in so many is met */
    struct tally *tally;
};

struct run { /* what a child is to do */
    const struct world *world;
    const struct scene *scene;
    struct fault fault;
    bool naive;
    int64_t start;
    int generation; /* how many processes there were before */
    calls_look *look;
};

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct drive drive = {.most_rounds = MOST_ROUNDS};
    world_enter(run->start, run->generation);
    scheduler_install(run->world->outside, run->naive);
    scheduler_has_room(run->scene->dropped[0].kind == KIND_WIDE);
    world_is_deaf(run->scene->dropped[0].kind == KIND_RAISED);
    calls_stop(run->look);
    calls_install(&run->fault);
    drive_run(&drive, run->world);
    calls_restore();
    calls_stop(NULL);
    result->calls = calls_count();
    result->rounds = drive.rounds;
    struct check check = {.world = run->world,
                          .scene = run->scene,
                          .ended = drive.finished,
                          .undisturbed = run->fault.kind == FAULT_NONE && run->generation == 0};
    result->finding = invariants_check(&check);
    result->ending = drive.finished ? END_CHECKED : END_WEDGED;
    if (drive.finished)
        snprintf(result->why, WHY_SIZE, "%s", check.why);
    else
        drive_describe(run->world, result->why, WHY_SIZE);
}

/* Check a state that a kill has left. */
static void check_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct check check = {.world = run->world, .scene = run->scene};
    result->finding = invariants_check(&check);
    result->ending = END_CHECKED;
    snprintf(result->why, WHY_SIZE, "%s", check.why);
}

/* The state of the world is new: check it, and recover from it. */
static void recover(struct worker *worker, const struct run *before, const struct world *world,
                    int64_t start, const char *where)
{
    struct run run = {.world = world,
                      .scene = before->scene,
                      .naive = before->naive,
                      .start = start,
                      .generation = before->generation + 1};
    atomic_fetch_add(&worker->tally->states, 1);
    harness_run(worker, check_body, &run);
    harness_count(worker, "%s", where);
    harness_run(worker, run_body, &run);
    harness_count(worker, "%s, after recovery", where);
}

/* killed */

static void kill_at(struct worker *worker, void *context, int64_t at)
{
    const struct kills *kills = context;
    struct world world;
    char where[64];
    if (kills->naive && worker->tally->doubled)
        return; /* it has been caught */
    world_make(&world, worker->top, "world", kills->scene);
    struct run run = {.world = &world,
                      .scene = kills->scene,
                      .naive = kills->naive,
                      .start = start_time,
                      .fault = {.kind = FAULT_KILL, .at = at}};
    atomic_fetch_add(&worker->tally->points, 1);
    snprintf(where, sizeof(where), "killed before call %lld", (long long)at);
    if (harness_run(worker, run_body, &run) != END_KILLED)
        harness_count(worker, "%s", where);
    else if (harness_is_new(world_digest(&world)))
        recover(worker, &run, &world, start_time + an_hour, where);
    tree_remove(world.base);
}

static void whole_run(struct worker *worker, void *context, int64_t number)
{
    struct kills *kills = context;
    struct world world;
    (void)number;
    world_make(&world, worker->top, "world", kills->scene);
    struct run run = {
        .world = &world, .scene = kills->scene, .naive = kills->naive, .start = start_time};
    harness_run(worker, run_body, &run);
    worker->tally->points = worker->result->calls;
    harness_count(worker, "without a fault");
    tree_remove(world.base);
}

/* Try a run that is not disturbed.  How many calls it makes; 0: it failed. */
static int64_t calls_of(struct kills *kills)
{
    struct tally *tally = shared_memory(sizeof(*tally));
    harness_try(kills->scene->title, tally, 1, 1, whole_run, kills);
    return tally_clean(tally) ? tally->points : 0;
}

static void report(const char *what, const struct kills *kills, const struct tally *tally)
{
    tap_ok(tally->points > 0 && tally_clean(tally),
           "%s, %s: %lld points, %lld states; %lld lost, %lld doubled, %lld otherwise wrong, %lld "
           "wedged",
           what, kills->scene->title, tally->points, tally->states, tally->lost, tally->doubled,
           tally->wrong + tally->crashed, tally->wedged);
}

/* Kill before one call in `stride`. */
static void kill_before(struct worker *worker, void *context, int64_t number)
{
    const struct kills *kills = context;
    kill_at(worker, context, number * kills->stride);
}

static void try_killed(int which, int stride)
{
    if (!harness_wants(scene_get(which)->title))
        return;
    struct kills kills = {.scene = scene_get(which), .stride = harness_one_in(stride)};
    struct tally *tally = shared_memory(sizeof(*tally));
    harness_forget_states();
    harness_try(kills.scene->title, tally, 1, calls_of(&kills) / kills.stride, kill_before, &kills);
    report(kills.stride > 1 ? "killed before some calls" : "killed before each call", &kills,
           tally);
}

/* stopped */

struct stop { /* a message of the process that waits */
    int64_t next, time;
};

static int stop_pipe[2], go_pipe[2];
static int one_in = 1; /* of the states that are copied, so many is recovered ... */
static int look_one_in =
    1; /* ... and of the calls before which one could be copied, so many is looked at */
static int stop_one_in; /* of the states from which recovery is stopped, so many is taken */

static void wait_here(int64_t next)
{
    struct stop stop = {next, world_time()};
    char go;
    if (write(stop_pipe[1], &stop, sizeof(stop)) != (ssize_t)sizeof(stop) ||
        read(go_pipe[0], &go, 1) != 1)
        harness_failed("nobody waits for the process that waits");
}

typedef void stopped_here(struct worker *worker, const struct run *run, const struct stop *stop,
                          const char *where);

/* Run, and call `here` whenever the process stands before a call that follows a change.  How many
 * calls there were. */
static int64_t run_stopping(struct worker *worker, struct run *run, stopped_here *here,
                            const char *prefix)
{
    int keep[4] = {stop_pipe[0], stop_pipe[1], go_pipe[0], go_pipe[1]};
    struct stop stop;
    char where[128];
    if (pipe(stop_pipe) || pipe(go_pipe))
        harness_failed("no pipe");
    struct worker inner = *worker;
    inner.result = shared_memory(sizeof(*inner.result));
    pid_t child = fork();
    if (child < 0)
        harness_failed("no process");
    if (child == 0) {
        close(stop_pipe[0]);
        close(go_pipe[1]);
        harness_silence();
        run->look = wait_here;
        run_body(inner.result, run);
        _exit(0);
    }
    close(stop_pipe[1]);
    close(go_pipe[0]);
    int from = stop_pipe[0], to = go_pipe[1];
    while (read(from, &stop, sizeof(stop)) == (ssize_t)sizeof(stop)) {
        snprintf(where, sizeof(where), "%s before call %lld", prefix, (long long)stop.next);
        here(worker, run, &stop, where);
        if (write(to, "", 1) != 1)
            break;
    }
    close(from);
    close(to);
    waitpid(child, NULL, 0);
    int64_t calls = inner.result->calls;
    shared_memory_free(inner.result, sizeof(*inner.result));
    memcpy(stop_pipe, keep, sizeof(stop_pipe));
    memcpy(go_pipe, keep + 2, sizeof(go_pipe));
    return calls;
}

static void recover_copy(struct worker *worker, const struct run *run, const struct stop *stop,
                         const char *where)
{
    struct world copy;
    if (stop->next % look_one_in)
        return;
    uint64_t digest = world_digest(run->world);
    if (digest % (uint64_t)one_in || !harness_is_new(digest))
        return;
    world_name(&copy, worker->top, "copy");
    tree_copy(run->world->base, copy.base);
    recover(worker, run, &copy, stop->time, where);
    tree_remove(copy.base);
}

/* Recover in a copy, and stop there in the same way. */
static void stop_recovery(struct worker *worker, const struct run *run, const struct stop *stop,
                          const char *where)
{
    struct world second;
    uint64_t digest = ~world_digest(run->world);
    if (digest % (uint64_t)stop_one_in || !harness_is_new(digest))
        return;
    world_name(&second, worker->top, "second");
    tree_copy(run->world->base, second.base);
    struct run again = {
        .world = &second, .scene = run->scene, .start = stop->time, .generation = 1};
    char prefix[96];
    snprintf(prefix, sizeof(prefix), "%s, and recovery", where);
    atomic_fetch_add(&worker->tally->points, run_stopping(worker, &again, recover_copy, prefix));
    tree_remove(second.base);
}

/* Each worker makes the whole run, and takes up what no other has. */
static void stop_once(struct worker *worker, void *context, int64_t number)
{
    const struct kills *kills = context;
    struct world world;
    world_make(&world, worker->top, "world", kills->scene);
    struct run run = {.world = &world, .scene = kills->scene, .start = start_time};
    int64_t calls = run_stopping(worker, &run, recover_copy, "killed");
    if (number == 1)
        atomic_fetch_add(&worker->tally->points, calls); /* the others' are the same */
    tree_remove(world.base);
}

static void stop_twice(struct worker *worker, void *context, int64_t number)
{
    const struct kills *kills = context;
    struct world world;
    (void)number;
    world_make(&world, worker->top, "world", kills->scene);
    struct run run = {.world = &world, .scene = kills->scene, .start = start_time};
    run_stopping(worker, &run, stop_recovery, "killed");
    tree_remove(world.base);
}

enum { FEW_CALLS = 13 }; /* a stride for runs that are short */

/* Try a scene.  A recovery is stopped from the states whose digests stop_one_in divides; a short run may have none
 * of these, and is made again with more of them. */
static void try_until_stopped(struct kills *kills, harness_point *point)
{
    do {
        harness_forget_states();
        harness_try(kills->scene->title, kills->tally, 1, harness_workers(), point, kills);
        stop_one_in /= 2;
    } while (point == stop_twice && kills->tally->points == 0 && tally_clean(kills->tally) &&
             stop_one_in > 0);
}

/* To look at a state costs more than to recover from a few, so where there are many calls, fewer are looked at, or
 * fewer recoveries stopped, instead of fewer of their states taken. */
static void try_stopped(int which, harness_point *point, int stride, const char *what)
{
    if (!harness_wants(scene_get(which)->title))
        return;
    struct kills kills = {.scene = scene_get(which), .tally = shared_memory(sizeof(*kills.tally))};
    int fewer = harness_one_in(1);
    bool few_stops = stride > FEW_CALLS && point == stop_twice;
    stop_one_in = few_stops ? fewer * fewer : fewer;
    look_one_in = point == stop_once ? fewer : 1;
    one_in = harness_one_in(stride) / (few_stops || point == stop_once ? fewer : 1);
    try_until_stopped(&kills, point);
    report(what, &kills, kills.tally);
    one_in = look_one_in = 1;
}

/* The harness itself: a scheduler that runs whatever it is given must be caught. */
static void catch_naive(void)
{
    struct kills kills = {.scene = scene_get(SCENE_ONE), .naive = true};
    struct tally *tally = shared_memory(sizeof(*tally));
    int64_t calls = calls_of(&kills);
    tally->said = 1000;
    harness_forget_states();
    harness_try(kills.scene->title, tally, 1, calls, kill_at, &kills);
    tap_ok(calls > 0 && tally->doubled > 0 && tally->lost == 0,
           "the harness catches a submission that does not ask for its token: %lld points, %lld "
           "doubled",
           tally->points, tally->doubled);
}

void test_kills(void)
{
    /* Primes; of the longer runs not every call is met, and not every state recovered, but with CRASH_EVERY=1. */
    static const struct {
        int scene, stride;
    } small[] = {{SCENE_ONE, 1},    {SCENE_ONE_FLAKY, 13},    {SCENE_ONE_TIGHT, 11},
                 {SCENE_THREE, 37}, {SCENE_THREE_KILLED, 59}, {SCENE_AFTER, 109}},
      resized[] = {{SCENE_ONE_GROWN, 13}, {SCENE_ONE_MOVED, 29}, {SCENE_ONE_WIDE, 11}};
    static const char twice[] = "stopped before each call, and recovery too";
    for (size_t i = 0; i < ARRAY_COUNT(small); i++)
        try_killed(small[i].scene, i < 3 ? 1 : 13);
    try_killed(SCENE_RESIZED, 23);
    try_killed(SCENE_TOKENS, 1);
    try_killed(SCENE_AGAIN, 1);
    try_killed(SCENE_ONE_SUSPENDED, 1);
    try_killed(SCENE_RECLAIMED, 7);
    try_killed(SCENE_BATCHES, 3);
    try_stopped(SCENE_FIFTY, stop_once, 73, "stopped before each call");
    for (size_t i = 0; i < ARRAY_COUNT(small); i++)
        try_stopped(small[i].scene, stop_twice, small[i].stride, twice);
    for (size_t i = 0; i < ARRAY_COUNT(resized); i++)
        try_stopped(resized[i].scene, stop_twice, resized[i].stride, twice);
    try_stopped(SCENE_TOKENS, stop_twice, 3, twice);
    try_stopped(SCENE_AGAIN, stop_twice, 13, twice);
    try_stopped(SCENE_ONE_SUSPENDED, stop_twice, 13, twice);
    try_stopped(SCENE_RECLAIMED, stop_twice, 97, twice);
    try_stopped(SCENE_BATCHES, stop_twice, 41, twice);
    if (geteuid() == 0) { /* who gives a file to another user, and may raise a priority */
        try_killed(SCENE_ONE_RAISED, 1);
        try_stopped(SCENE_ONE_RAISED, stop_twice, 23, twice);
        try_killed(SCENE_ONE_APPROVED, 1);
        try_stopped(SCENE_ONE_APPROVED, stop_twice, 23, twice);
        try_killed(SCENE_ONE_DENIED, 1);
        try_stopped(SCENE_ONE_DENIED, stop_twice, 23, twice);
    }
    catch_naive();
}
