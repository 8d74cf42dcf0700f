/* tests/crash/metrics.c - SIGKILL before every call of the process that writes metrics
 *
 * A spool has shown what three attempts came to, and two more have ended.  The process makes a pass, and ends before
 * its Nth call: what is shown is then whole, of the three or of all five.  A fresh process shows five; and where the
 * accounts have gone meanwhile, no less than was shown.
 *
 * Seen to fail with: tests/mutants/metrics-write-before-they-keep.patch (lost).
 */
#include "tests/crash/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "stages/metrics/metrics.h"
#include "tests/crash/calls.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum { FIRST = 3, ALL = 5 };
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */

struct showing {
    struct world before; /* three attempts are shown, and five have ended */
};

struct run { /* what a child is to do */
    const struct world *world;
    struct fault fault;
    int generation, least, most; /* attempts that are to be shown in the end */
};

static const char *shown_file(const struct world *world, char path[static TREE_PATH_SIZE])
{
    snprintf(path, TREE_PATH_SIZE, "%s/shown.prom", world->base);
    return path;
}

/* How many attempts the file shows; -1 when it is not there, or not whole. */
static int read_shown(const struct world *world)
{
    char path[TREE_PATH_SIZE];
    const char *series = "\ndlspool_attempts_total{outcome=\"succeeded\",class=\"\"} ";
    struct buffer bytes = tree_read(shown_file(world, path));
    const char *at = bytes.data ? strstr(bytes.data, series) : NULL;
    bool whole = bytes.data && strstr(bytes.data, "\ndlspool_metrics_timestamp_seconds ") &&
                 bytes.data[bytes.length - 1] == '\n';
    int count = at && whole ? atoi(at + strlen(series)) : -1;
    buffer_free(&bytes);
    return count;
}

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct error error;
    world_enter(start_time + CLOCK_DAY, run->generation);
    scheduler_install(run->world->outside, false);
    calls_install(&run->fault);
    struct stage *stage = metrics_stage.open(run->world->spool, &error);
    if (stage) {
        metrics_stage.round(stage);
        metrics_stage.close(stage);
    }
    calls_restore();
    int shown = read_shown(run->world);
    result->calls = calls_count();
    result->ending = END_CHECKED;
    result->finding = shown < run->least  ? FOUND_LOST
                      : shown > run->most ? FOUND_DOUBLED
                                          : FOUND_GOOD;
    snprintf(result->why, WHY_SIZE, "%d attempts are shown, expected %d to %d", shown, run->least,
             run->most);
}

/* Have the accounts say that so many attempts have ended. */
static void set_attempts(const struct world *world, int count)
{
    char path[TREE_PATH_SIZE];
    struct buffer lines = {0};
    snprintf(path, sizeof(path), "%s/history/usage/2026-01", world->spool);
    for (int i = 0; i < count; i++)
        buffer_printf(&lines,
                      "2026-01-01T12:00:%02d.000Z usage id=one-1m800000000%02d attempt=1 user=ann "
                      "uid=1000 gid=100 outcome=succeeded whole=1\n",
                      i, i);
    unlink(path);
    tree_write(path, buffer_text(&lines), 0644);
    buffer_free(&lines);
}

static void copy_world(struct worker *worker, const struct showing *showing, struct world *world)
{
    world_name(world, worker->top, "world");
    tree_remove(world->base);
    tree_copy(showing->before.base, world->base);
}

/* The setting names the file by its path, so each worker has its own. */
static void set_file(const struct world *world)
{
    char path[TREE_PATH_SIZE], shown[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/dlspool.yaml", world->spool);
    struct buffer settings = tree_read(path);
    char *at = strstr(settings.data, "\nmetrics:");
    if (at)
        settings.length = (size_t)(at + 1 - settings.data);
    buffer_printf(&settings, "metrics: {file: %s}\n", shown_file(world, shown));
    unlink(path);
    tree_write(path, buffer_text(&settings), 0644);
    buffer_free(&settings);
}

/* ---- runs ---- */

static void whole_run(struct worker *worker, void *context, int64_t number)
{
    struct world world;
    (void)number;
    copy_world(worker, context, &world);
    set_file(&world);
    struct run run = {.world = &world, .least = ALL, .most = ALL};
    harness_run(worker, run_body, &run);
    worker->tally->points = worker->result->calls;
    harness_count(worker, "without a fault");
    tree_remove(world.base);
}

/* `gone`: the accounts are moved away before the fresh process comes. */
static void kill_one(struct worker *worker, const struct showing *showing, int64_t at, bool gone)
{
    char path[TREE_PATH_SIZE];
    struct world world;
    copy_world(worker, showing, &world);
    set_file(&world);
    struct run run = {.world = &world, .fault = {.kind = FAULT_KILL, .at = at}};
    atomic_fetch_add(&worker->tally->points, 1);
    harness_run(worker, run_body, &run);
    int shown = read_shown(&world);
    snprintf(path, sizeof(path), "%s/history/usage/2026-01", world.spool);
    if (gone)
        unlink(path);
    run = (struct run){.world = &world, .generation = 1, .least = gone ? shown : ALL, .most = ALL};
    if (shown < FIRST)
        run.least = ALL + 1; /* half a file was shown, or less than before */
    harness_run(worker, run_body, &run);
    harness_count(worker, "killed before call %lld%s", (long long)at,
                  gone ? ", accounts moved away" : "");
    tree_remove(world.base);
}

static void kill_before(struct worker *worker, void *context, int64_t number)
{
    kill_one(worker, context, number, false);
    kill_one(worker, context, number, true);
}

/* In the directory of a worker, where templates.git is. */
static void show_first(struct worker *worker, void *context, int64_t number)
{
    struct showing *showing = context;
    struct world world;
    char path[TREE_PATH_SIZE];
    (void)number;
    world_make(&world, worker->top, "world", scene_get(SCENE_THREE_KILLED));
    snprintf(path, sizeof(path), "%s/history", world.spool);
    tree_make(path, 0755);
    snprintf(path, sizeof(path), "%s/history/usage", world.spool);
    tree_make(path, 0755);
    set_file(&world);
    set_attempts(&world, FIRST);
    struct run run = {.world = &world, .least = FIRST, .most = FIRST};
    worker->tally->points = harness_run(worker, run_body, &run) == END_CHECKED;
    harness_count(worker, "what is shown first");
    set_attempts(&world, ALL);
    tree_copy(world.base, showing->before.base);
    tree_remove(world.base);
}

void test_metrics(void)
{
    struct showing showing;
    struct tally *tally = shared_memory(sizeof(*tally));
    world_name(&showing.before, harness_top, "shown");
    harness_try("metrics that are shown", tally, 1, 1, show_first, &showing);
    harness_try("metrics", tally, 1, 1, whole_run, &showing);
    int64_t calls = tally_clean(tally) ? tally->points : 0;
    tally->points = 0;
    harness_try("metrics", tally, 1, calls, kill_before, &showing);
    tap_ok(
        tally->points > 0 && tally_clean(tally),
        "killed before each call of writing metrics: %lld points; %lld gone back, %lld counted twice, %lld "
        "otherwise wrong",
        tally->points, tally->lost, tally->doubled, tally->wrong + tally->crashed);
    tree_remove(showing.before.base);
}
