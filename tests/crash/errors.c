/* tests/crash/errors.c - every call fails, with every error, once and for ever
 *
 * Each point is a call, an error and a span: only that call; every call from there on; every call
 * of that name from there on; or that call, although it did its work (as NFS does when an answer
 * is lost), with an error or with what its repetition answers.  The stages go on for some rounds, then the fault is lifted, and they must come to the
 * same end as without it.  Meanwhile they must not be noisy (so many lines a round at most), nor
 * silent when work stands still.
 *
 * EACCES of a dropped file says that its owner made it unreadable, so there a refusal with a reason
 * is as good an end.
 *
 * To see this fail: let job_move() of spool/job.c believe that a rename that failed did not
 * happen (lost, with a call that did its work), or return DamagedRecord for a record that could
 * not be opened (stages/submit/handover.c, without file_is_damaged()); or let file_rename() of
 * base/file.c believe an error, and accept_claims() of stages/intake/accept.c take nothing for doubtful; or with
 * tests/mutants/token-revocation-believes-any-error.patch (lost) or decision-is-unread-in-silence.patch (silent).
 */
#include "tests/crash/harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/crash/calls.h"
#include "tests/crash/drive.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum {
    MOST_ROUNDS = 400,
    ROUNDS_WITH_FAULT = 16,
    LINES_A_ROUND = 5, /* of all four stages together, on the average */
    LINES_BESIDE = 12  /* on starting again, and when it is over */
};
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */

static const struct {
    int number;
    const char *name;
} errors[] = {
    {ENOSPC, "ENOSPC"}, {EDQUOT, "EDQUOT"}, {EIO, "EIO"},
    {EROFS, "EROFS"},   {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"},
    {ENOMEM, "ENOMEM"}, {EINTR, "EINTR"},   {EAGAIN, "EAGAIN"},
    {ESTALE, "ESTALE"}, {EACCES, "EACCES"}, {FAULT_REPEATED, "the answer to its repetition"}};

static const struct {
    enum fault_span span;
    bool done;
    const char *name;
} spans[] = {{SPAN_ONCE, false, "once"},
             {SPAN_EVER, false, "from then on"},
             {SPAN_NAME, false, "for calls of that name"},
             {SPAN_ONCE, true, "although it was done"}};

enum { ERRORS = ARRAY_COUNT(errors), SPANS = ARRAY_COUNT(spans) };

struct trouble {
    const struct scene *scene;
    int stride; /* of the points, one in so many is tried */
};

struct run {
    const struct world *world;
    const struct scene *scene;
    struct fault fault;
};

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct drive drive = {.most_rounds = MOST_ROUNDS, .lift_after = ROUNDS_WITH_FAULT};
    world_enter(start_time, 0);
    scheduler_install(run->world->outside, false);
    scheduler_has_room(run->scene->dropped[0].kind == KIND_WIDE);
    calls_install(&run->fault);
    drive_run(&drive, run->world);
    const char *hit = calls_hit_name();
    calls_restore();
    result->calls = calls_count();
    result->rounds = drive.rounds;
    result->finished_in_fault = drive.finished_in_fault;
    struct check check = {.world = run->world,
                          .scene = run->scene,
                          .ended = drive.finished,
                          .refusals = run->fault.number == EACCES,
                          .littered = true};
    result->finding = invariants_check(&check);
    result->ending = drive.finished ? END_CHECKED : END_WEDGED;
    if (drive.finished)
        snprintf(result->why, WHY_SIZE, "%s", check.why);
    else
        drive_describe(run->world, result->why, WHY_SIZE);
    snprintf(result->call, sizeof(result->call), "%s", hit);
}

/* What looks as if another program had a file open for writing, or a lock, may be waited for. */
static bool waits_for_another(const struct result *result, int number)
{
    return (number == EAGAIN || number == EACCES) &&
           (strcmp(result->call, "openat2") == 0 || strcmp(result->call, "lease") == 0 ||
            strcmp(result->call, "lock") == 0);
}

/* Whether it said too much or too little. */
static void judge_noise(struct result *result, int number)
{
    if (result->ending != END_CHECKED || result->finding)
        return;
    if (result->lines > LINES_A_ROUND * result->rounds + LINES_BESIDE) {
        result->ending = END_NOISY;
        snprintf(result->why, WHY_SIZE, "%d lines in %d rounds", result->lines, result->rounds);
    } else if (!result->finished_in_fault && result->lines == 0 && number != FAULT_REPEATED &&
               !waits_for_another(result, number)) {
        result->ending = END_SILENT;
        snprintf(result->why, WHY_SIZE, "work stood still in silence");
    }
}

static void fail_at(struct worker *worker, void *context, int64_t number)
{
    const struct trouble *trouble = context;
    int64_t point = (number - 1) * trouble->stride;
    size_t error = (size_t)(point % ERRORS), span = (size_t)(point / ERRORS % SPANS);
    int64_t at = point / ERRORS / SPANS + 1;
    int number_tried = errors[error].number;
    if (spans[span].done
            ? number_tried != EIO && number_tried != ESTALE && number_tried != FAULT_REPEATED
            : number_tried == FAULT_REPEATED)
        return;
    struct world world;
    world_make(&world, worker->top, "world", trouble->scene);
    struct run run = {.world = &world,
                      .scene = trouble->scene,
                      .fault = {.kind = FAULT_ERROR,
                                .at = at,
                                .span = spans[span].span,
                                .done = spans[span].done,
                                .number = errors[error].number}};
    atomic_fetch_add(&worker->tally->points, 1);
    harness_run(worker, run_body, &run);
    judge_noise(worker->result, errors[error].number);
    harness_count(worker, "call %lld (%s) failed with %s %s", (long long)at, worker->result->call,
                  errors[error].name, spans[span].name);
    tree_remove(world.base);
}

static void whole_run(struct worker *worker, void *context, int64_t number)
{
    const struct trouble *trouble = context;
    struct world world;
    (void)number;
    world_make(&world, worker->top, "world", trouble->scene);
    struct run run = {.world = &world, .scene = trouble->scene};
    harness_run(worker, run_body, &run);
    worker->tally->points = worker->result->calls;
    harness_count(worker, "without a fault");
    tree_remove(world.base);
}

static void try_errors(int which, int stride)
{
    if (!harness_wants(scene_get(which)->title))
        return;
    stride = harness_one_in(stride);
    struct trouble trouble = {.scene = scene_get(which), .stride = stride};
    struct tally *whole = shared_memory(sizeof(*whole));
    struct tally *tally = shared_memory(sizeof(*tally));
    harness_try(trouble.scene->title, whole, 1, 1, whole_run, &trouble);
    int64_t points = whole->points * ERRORS * SPANS;
    harness_try(trouble.scene->title, tally, 1, points / stride, fail_at, &trouble);
    tap_ok(tally_clean(whole) && tally->points > 0 && tally_clean(tally),
           "every call fails in every way%s, %s: %lld points; %lld lost, %lld doubled, %lld "
           "otherwise wrong, %lld wedged, %lld noisy or silent",
           stride > 1 ? " (sampled)" : "", trouble.scene->title, tally->points, tally->lost,
           tally->doubled, tally->wrong + tally->crashed, tally->wedged, tally->noisy);
}

void test_errors(void)
{
    /* Primes, so that all errors and spans are met. */
    try_errors(SCENE_ONE, 29);
    try_errors(SCENE_THREE, 89);
    try_errors(SCENE_THREE_KILLED, 173);
    try_errors(SCENE_AFTER, 257);
    try_errors(SCENE_RESIZED, 283);
    try_errors(SCENE_ONE_WIDE, 127);
    try_errors(SCENE_TOKENS, 13);
    try_errors(SCENE_AGAIN, 29);
    try_errors(SCENE_ONE_SUSPENDED, 31);
    try_errors(SCENE_RECLAIMED, 211);
    try_errors(SCENE_BATCHES, 61);
    if (geteuid() == 0) /* who gives a file to another user */
        try_errors(SCENE_ONE_DENIED, 29);
    try_errors(SCENE_FIFTY, 4001);
}
