/* tests/crash/prune.c - SIGKILL before every call of the process that archives old jobs
 *
 * The jobs of a scene run to their end; a hundred days later the prune stage makes a pass, and ends before its Nth call.
 * Each job must then be in the spool or in an archive, whole.  A fresh process makes another pass: each must
 * be in an archive once, with what it had been, and nothing be left of the first.
 *
 * Seen to fail with: tests/mutants/prune-removes-before-archives-are-there.patch (lost).
 */
#include "tests/crash/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/restore.h"
#include "base/clock.h"
#include "stages/prune/prune.h"
#include "tests/crash/calls.h"
#include "tests/crash/drive.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum { MOST_ROUNDS = 400, MOST_JOBS = 16 };
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */

struct pruning {
    struct world before; /* with the jobs at their end */
    struct job_place jobs[MOST_JOBS];
    size_t count;
    int64_t stride; /* one call in so many is met */
};

struct run { /* what a child is to do */
    const struct pruning *pruning;
    const struct world *world;
    struct fault fault;
    int generation;
    bool pass, whole; /* make a pass; it is to be complete */
};

/* ---- what must hold ---- */

static bool is_same_file(const char *before, const char *after, const char *name)
{
    char path[2 * TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", before, name);
    struct buffer old = tree_read(path);
    snprintf(path, sizeof(path), "%s/%s", after, name);
    struct buffer new = tree_read(path);
    bool same = text_equal(buffer_text(&old), buffer_text(&new));
    buffer_free(&old);
    buffer_free(&new);
    return same;
}

/* Is what the archive has of the job what it was? */
static bool is_whole(const struct run *run, int archive, const struct found *found,
                     const struct job_place *place)
{
    static const char *const names[] = {"job.yaml", "log", "request.yaml", "manifest.yaml",
                                        "output/main-0.log"};
    char before[TREE_PATH_SIZE], after[TREE_PATH_SIZE], text[PLACE_TEXT_SIZE];
    struct error error;
    bool denied, same = true;
    snprintf(before, sizeof(before), "%s/%s", run->pruning->before.spool,
             job_place_text(place, text));
    snprintf(after, sizeof(after), "%s/restored", run->world->base);
    tree_remove(after);
    tree_make(after, 0755);
    int directory = open(after, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    same = restore_job(archive, found, directory, RESTORE_CONTENTS, &denied, &error) == 0;
    close(directory);
    snprintf(after, sizeof(after), "%s/restored/%s", run->world->base, place->id);
    for (size_t i = 0; i < ARRAY_COUNT(names) && same; i++)
        same = is_same_file(before, after, names[i]);
    return same;
}

/* How many indexes have the job. */
static int count_lines(int archive, struct text id, struct arena *arena)
{
    struct part *parts = NULL;
    size_t count = 0;
    int lines = 0;
    if (archive < 0 || parts_list(archive, &parts, &count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct buffer index = {0};
        struct archived_job job;
        struct error error;
        if (parts_read_index(archive, &parts[i], &index, &error) == 0)
            lines += index_find_id(buffer_text(&index), id, arena, &job);
        buffer_free(&index);
    }
    free(parts);
    return lines;
}

static enum finding check_job(const struct run *run, const struct spool *spool, int archive,
                              const struct job_place *place, struct arena *arena)
{
    struct job_place there;
    struct found found;
    struct error error;
    bool in_spool = jobs_find(spool, text_of(place->id), &there, &error) == 0;
    int lines = count_lines(archive, text_of(place->id), arena);
    if (lines > 1)
        return FOUND_DOUBLED;
    if (lines == 0)
        return in_spool && !run->whole ? FOUND_GOOD : FOUND_LOST;
    if (find_archived(archive, text_of(place->id), 0, arena, &found, &error) ||
        !is_whole(run, archive, &found, place))
        return FOUND_WRONG;
    return in_spool && run->whole ? FOUND_WRONG : FOUND_GOOD;
}

/* A complete pass leaves no unfinished archive, and no job half removed. */
static bool is_clean(const struct world *world)
{
    char path[TREE_PATH_SIZE];
    bool clean = true;
    snprintf(path, sizeof(path), "%s/history/archive/.removed", world->spool);
    struct tree_names names = tree_list(path);
    clean = names.count == 0;
    tree_list_free(&names);
    snprintf(path, sizeof(path), "%s/history/archive", world->spool);
    names = tree_list(path);
    for (size_t i = 0; i < names.count; i++)
        clean = clean && (names.names[i][0] != '.' || strcmp(names.names[i], ".removed") == 0);
    tree_list_free(&names);
    return clean;
}

static enum finding check_all(const struct run *run, char *why)
{
    struct spool spool;
    struct error error;
    enum finding finding = FOUND_GOOD;
    if (spool_open(&spool, run->world->spool, &error))
        return FOUND_LOST;
    struct arena *arena = arena_new();
    int archive = parts_open(&spool, false);
    for (size_t i = 0; i < run->pruning->count && !finding; i++) {
        const struct job_place *place = &run->pruning->jobs[i];
        finding = check_job(run, &spool, archive, place, arena);
        snprintf(why, WHY_SIZE, "%s", place->id);
    }
    if (!finding && run->whole && !is_clean(run->world)) {
        finding = FOUND_WRONG;
        snprintf(why, WHY_SIZE, "something is left in history/archive/");
    }
    if (archive >= 0)
        close(archive);
    arena_free(arena);
    spool_close(&spool);
    return finding;
}

/* ---- runs ---- */

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct error error;
    world_enter(start_time + 100 * CLOCK_DAY, run->generation);
    calls_install(&run->fault);
    struct stage *stage = run->pass ? prune_stage.open(run->world->spool, &error) : NULL;
    if (stage) {
        prune_stage.round(stage);
        prune_stage.close(stage);
    }
    calls_restore();
    result->calls = calls_count();
    result->ending = END_CHECKED;
    result->finding = check_all(run, result->why);
}

static void copy_world(struct worker *worker, const struct pruning *pruning, struct world *world)
{
    world_name(world, worker->top, "world");
    tree_remove(world->base);
    tree_copy(pruning->before.base, world->base);
}

static void whole_run(struct worker *worker, void *context, int64_t number)
{
    struct world world;
    (void)number;
    copy_world(worker, context, &world);
    struct run run = {.pruning = context, .world = &world, .pass = true, .whole = true};
    harness_run(worker, run_body, &run);
    worker->tally->points = worker->result->calls;
    harness_count(worker, "without a fault");
    tree_remove(world.base);
}

static void kill_before(struct worker *worker, void *context, int64_t number)
{
    const struct pruning *pruning = context;
    struct world world;
    int64_t at = number * pruning->stride;
    copy_world(worker, pruning, &world);
    struct run run = {
        .pruning = pruning, .world = &world, .pass = true, .fault = {.kind = FAULT_KILL, .at = at}};
    atomic_fetch_add(&worker->tally->points, 1);
    harness_run(worker, run_body, &run);
    run = (struct run){.pruning = pruning, .world = &world, .generation = 1};
    harness_run(worker, run_body, &run);
    harness_count(worker, "killed before call %lld", (long long)at);
    run.pass = run.whole = true;
    harness_run(worker, run_body, &run);
    harness_count(worker, "killed before call %lld, after recovery", (long long)at);
    tree_remove(world.base);
}

/* ---- the jobs ---- */

static int note_job(void *context, const struct job_place *place)
{
    struct pruning *pruning = context;
    if (pruning->count < MOST_JOBS)
        pruning->jobs[pruning->count++] = *place;
    return 0;
}

static void end_jobs(struct result *result, void *context)
{
    const struct pruning *pruning = context;
    struct drive drive = {.most_rounds = MOST_ROUNDS};
    const struct fault none = {.kind = FAULT_NONE};
    world_enter(start_time, 0);
    scheduler_install(pruning->before.outside, false);
    calls_install(&none);
    drive_run(&drive, &pruning->before);
    calls_restore();
    result->ending = drive.finished ? END_CHECKED : END_WEDGED;
}

/* In the directory of a worker, where templates.git is. */
static void make_jobs(struct worker *worker, void *context, int64_t number)
{
    struct pruning *pruning = context;
    struct world world;
    (void)number;
    world_make(&world, worker->top, "world", scene_get(SCENE_THREE_KILLED));
    struct pruning here = {.before = world};
    worker->tally->points = harness_run(worker, end_jobs, &here) == END_CHECKED;
    harness_count(worker, "before anything is pruned");
    tree_copy(world.base, pruning->before.base);
    tree_remove(world.base);
}

static void prepare(struct pruning *pruning)
{
    struct tally *tally = shared_memory(sizeof(*tally));
    struct spool spool;
    struct error error;
    char path[TREE_PATH_SIZE];
    world_name(&pruning->before, harness_top, "ended");
    harness_try("jobs that end", tally, 1, 1, make_jobs, pruning);
    snprintf(path, sizeof(path), "%s/dlspool.yaml", pruning->before.spool);
    struct buffer settings = tree_read(path);
    buffer_add_string(&settings, "keep: {done: 30d, failed: 30d}\n");
    unlink(path);
    tree_write(path, buffer_text(&settings), 0644);
    buffer_free(&settings);
    if (spool_open(&spool, pruning->before.spool, &error) ||
        jobs_walk(&spool, STATE_DONE, note_job, pruning) ||
        jobs_walk(&spool, STATE_FAILED, note_job, pruning))
        harness_failed("the jobs that have ended could not be listed");
    spool_close(&spool);
}

void test_prune(void)
{
    struct pruning pruning = {.stride = harness_one_in(1)};
    struct tally *tally = shared_memory(sizeof(*tally));
    prepare(&pruning);
    harness_try("a pass", tally, 1, 1, whole_run, &pruning);
    int64_t calls = tally_clean(tally) ? tally->points : 0;
    tally->points = 0;
    harness_try("a pass", tally, 1, calls / pruning.stride, kill_before, &pruning);
    tap_ok(
        pruning.count >= 3 && tally->points > 0 && tally_clean(tally),
        "killed before each call of archiving %zu jobs: %lld points; %lld lost, %lld doubled, %lld otherwise wrong",
        pruning.count, tally->points, tally->lost, tally->doubled, tally->wrong + tally->crashed);
    tree_remove(pruning.before.base);
}
