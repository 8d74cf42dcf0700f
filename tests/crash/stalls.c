/* tests/crash/stalls.c - a job file over which intake ends, whenever it is read
 *
 * In place of libyaml's, yaml_parser_set_input_string() ends the process when it is given the job
 * file of one job.  The stages are started again each time, as the supervisor would, until nothing
 * is left to do: that must be after the third time; that job is then in failed/ with the reason
 * StopsReader, and all others have come to their proper end.
 *
 * Besides, the process that is started after such an end is itself killed before each of its first
 * calls: however it goes on from there, no more than three ends are counted, and none is lost.
 *
 * To see this fail: leave out guard_enter() in accept_one() of stages/intake/accept.c, or the count in the
 * claim's name (claim_count_try() of stages/intake/claim.c).
 */
#include "tests/crash/harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "stages/guard.h"
#include "tests/crash/calls.h"
#include "tests/crash/drive.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum { MOST_ROUNDS = 400, MOST_STARTS = 8, CRASH_STATUS = 111, KILLED_CALLS = 60 };
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */
static const int64_t a_minute = 60 * 1000;       /* milliseconds */

static const char *poison; /* what the job file contains; NULL: none does */

void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t size)
{
    void (*real)(yaml_parser_t *, const unsigned char *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "yaml_parser_set_input_string");
    if (poison && memmem(input, size, poison, strlen(poison)) && !memmem(input, size, "sum: ", 5))
        _exit(CRASH_STATUS);
    real(parser, input, size);
}

/* Three jobs, of which the first has a letter that is not of ASCII: libyaml reads it (base/yaml_quick.h). */
static const struct scene *three_jobs(void)
{
    static const char comment[] = "# \303\251\n";
    static struct scene scene;
    scene = *scene_get(SCENE_THREE);
    char *second_line = strchr(scene.dropped[0].bytes, '\n') + 1;
    memmove(second_line + sizeof(comment) - 1, second_line, strlen(second_line) + 1);
    memcpy(second_line, comment, sizeof(comment) - 1);
    return &scene;
}

struct run {
    const struct world *world;
    struct guard *guard;
    struct fault fault;
    int generation;
};

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct drive drive = {.most_rounds = MOST_ROUNDS};
    world_enter(start_time + run->generation * a_minute, run->generation);
    scheduler_install(run->world->outside, false);
    guard_set(run->guard);
    calls_install(&run->fault);
    poison = "good-01";
    drive_run(&drive, run->world);
    calls_restore();
    poison = NULL;
    char id[TREE_PATH_SIZE] = "", path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/failed", run->world->spool);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++)
        if (strncmp(names.names[i], "good-01", 7) == 0)
            snprintf(id, sizeof(id), "%s", names.names[i]);
    tree_list_free(&names);
    struct check check = {
        .world = run->world, .scene = three_jobs(), .ended = drive.finished, .damaged = id};
    result->ending = drive.finished ? END_CHECKED : END_WEDGED;
    result->finding = id[0] ? invariants_check(&check) : FOUND_LOST;
    snprintf(result->why, WHY_SIZE, "%s", id[0] ? check.why : "good-01 is not in failed/");
}

/* Start it again and again.  How many times it ended over the job file, or -1. */
static int run_to_end(struct worker *worker, struct run *run)
{
    int ends = 0;
    for (int starts = 0; starts < MOST_STARTS; starts++, run->generation++) {
        enum ending ending = harness_run(worker, run_body, run);
        if (ending != END_CRASHED)
            return ending == END_CHECKED ? ends : -1;
        ends++;
    }
    return -1;
}

static void stall_at(struct worker *worker, void *context, int64_t at)
{
    struct world world;
    struct error error;
    (void)context;
    world_make(&world, worker->top, "world", three_jobs());
    struct run run = {.world = &world, .guard = guard_new(&error)};
    if (!run.guard)
        harness_failed("%s", error.text);
    atomic_fetch_add(&worker->tally->points, 1);
    int ends = 0;
    if (at > 0) {
        /* The first end, and a kill in the process that finds it. */
        ends += harness_run(worker, run_body, &run) == END_CRASHED;
        run.generation++;
        run.fault = (struct fault){.kind = FAULT_KILL, .at = at};
        ends += harness_run(worker, run_body, &run) == END_CRASHED;
        run.generation++;
        run.fault = (struct fault){0};
    }
    int rest = run_to_end(worker, &run);
    harness_count(worker, "killed before call %lld after the first end", (long long)at);
    ends = rest < 0 ? rest : ends + rest;
    if (rest >= 0 && (ends < GUARD_MOST_TRIES || ends > GUARD_MOST_TRIES + (at > 0))) {
        tap_comment("killed before call %lld: set aside after %d ends", (long long)at, ends);
        atomic_fetch_add(&worker->tally->wrong, 1);
    }
    guard_free(run.guard);
    tree_remove(world.base);
}

void test_stalls(void)
{
    struct tally *tally = shared_memory(sizeof(*tally));
    harness_try("a file over which intake ends", tally, 0, KILLED_CALLS, stall_at, NULL);
    tap_ok(tally->points > 0 && tally_clean(tally),
           "a file over which intake ends is set aside the third time: %lld points; %lld lost, "
           "%lld doubled, %lld otherwise wrong, %lld wedged",
           tally->points, tally->lost, tally->doubled, tally->wrong + tally->crashed,
           tally->wedged);
}
