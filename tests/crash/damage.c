/* tests/crash/damage.c - a job's files cut, changed, gone or odd; a job in two directories
 *
 * Three jobs are brought to where each state has one.  Then, for each point in a world of its own,
 * one file of one job is damaged: cut at a byte, a bit of a byte changed, removed, emptied, or
 * replaced by a directory, a link, a pipe or a file without end; or the whole job is copied into
 * another state's directory, as a lost rename or a careless `cp -a` would.  The stages start and go
 * on until nothing is left to do.  Then no stage has failed to open; all other jobs have come to
 * their proper end; the damaged one has, too, or is in failed/ with a reason; no token was run
 * twice, and no job more often than it should be; and of two copies one has been set aside.
 *
 * CRASH_EVERY=1 takes every byte of every file, instead of every 19th.
 *
 * To see this fail: let next_attempt() of stages/prepare/renew.c go by `intent` alone (a task runs
 * twice), or leave out open_log()'s spool_file_damaged() in spool/eventlog.c (wedged), or let
 * duplicate_settle() of stages/shared/duplicate.c return false at once (a job stays in two directories).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/stage.h"
#include "tests/crash/calls.h"
#include "tests/crash/drive.h"
#include "tests/crash/harness.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum {
    MOST_ROUNDS = 400,
    MOST_VICTIMS = 6,
    MOST_FILES = 8,
    STRIDE = 19 /* of the bytes, one in so many is tried */
};
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */
static const int64_t an_hour = 60 * 60 * 1000;   /* milliseconds */

/* How far the jobs are when one is damaged: so many of these stages have made a round. */
static const struct stage_operations *const operations[] = {&intake_stage, &submit_stage,
                                                            &track_stage};
static const struct {
    int stages;
    const char *name; /* of the job; its state follows */
    const char *state;
} victims[MOST_VICTIMS] = {{1, "good-01", "rendered"},   {2, "good-01", "submitted"},
                           {2, "flaky-02", "submitted"}, {3, "flaky-02", "failed"},
                           {3, "bad-03", "failed"},      {3, "good-01", "done"}};

static const struct {
    const char *name;
    bool bytes; /* at each byte; otherwise once */
} kinds[] = {{"cut", true},     {"changed", true}, {"removed", false}, {"a directory", false},
             {"a link", false}, {"a pipe", false}, {"endless", false}};
enum { CUT, CHANGED, REMOVED, DIRECTORY, LINK, PIPE, ENDLESS, KINDS };

static const char *const copies[] = {"rendered", "submitted",       "failed",
                                     "held",     "done/2026-01-01", "done/2025-12-31"};
enum { FIRST_UNSERVED = 4, COPIES = ARRAY_COUNT(copies) };

struct point {              /* what is damaged */
    int victim, file, kind; /* file -1: the job is copied to copies[kind] */
    off_t at;
};

struct damage {
    struct world bases[4];          /* after so many stages */
    char places[MOST_VICTIMS][256]; /* of the victims, below the spool */
    char ids[MOST_VICTIMS][ID_SIZE];
    char files[MOST_VICTIMS][MOST_FILES][32];
    struct point *points;
    size_t count, capacity;
};

/* Worlds */

struct stretch {
    const struct world *world;
    int stages;
};

static void go_so_far(struct result *result, void *context)
{
    const struct stretch *stretch = context;
    struct fault none = {0};
    world_enter(start_time, 0);
    scheduler_install(stretch->world->outside, false);
    calls_install(&none);
    for (int i = 0; i < stretch->stages; i++) {
        struct error error;
        struct stage *stage = operations[i]->open(stretch->world->spool, &error);
        if (!stage)
            harness_failed("%s", error.text);
        operations[i]->round(stage);
        operations[i]->close(stage);
    }
    calls_restore();
    result->ending = END_CHECKED;
}

static void find_victim(struct damage *damage, int which)
{
    const struct world *world = &damage->bases[victims[which].stages];
    char path[TREE_PATH_SIZE], below[128];
    bool done = strcmp(victims[which].state, "done") == 0;
    snprintf(below, sizeof(below), "%s%s", victims[which].state, done ? "/2026-01-01" : "");
    snprintf(path, sizeof(path), "%s/%s", world->spool, below);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++) {
        if (strncmp(names.names[i], victims[which].name, strlen(victims[which].name)) != 0)
            continue;
        snprintf(damage->ids[which], ID_SIZE, "%s", names.names[i]);
        snprintf(damage->places[which], sizeof(damage->places[which]), "%s/%s", below,
                 names.names[i]);
    }
    tree_list_free(&names);
    if (!damage->ids[which][0])
        harness_failed("%s is not in %s/", victims[which].name, below);
}

static void add_point(struct damage *damage, int victim, int file, int kind, off_t at)
{
    damage->points =
        memory_grow(damage->points, damage->count, &damage->capacity, sizeof(*damage->points));
    damage->points[damage->count++] = (struct point){victim, file, kind, at};
}

static void add_points(struct damage *damage, int victim, off_t stride)
{
    char path[TREE_PATH_SIZE];
    struct stat status;
    int file = 0;
    snprintf(path, sizeof(path), "%s/%s", damage->bases[victims[victim].stages].spool,
             damage->places[victim]);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count && file < MOST_FILES; i++) {
        snprintf(path, sizeof(path), "%s/%s/%s", damage->bases[victims[victim].stages].spool,
                 damage->places[victim], names.names[i]);
        if (lstat(path, &status))
            harness_failed("%s is not there", path);
        snprintf(damage->files[victim][file], sizeof(damage->files[victim][file]), "%s",
                 names.names[i]);
        for (int kind = 0; kind < KINDS; kind++) {
            if (kinds[kind].bytes && !S_ISREG(status.st_mode))
                continue;
            off_t first = kinds[kind].bytes ? (victim + file + kind) % stride : 0;
            off_t last = kinds[kind].bytes ? status.st_size - 1 : 0;
            for (off_t at = first; at <= last; at += stride)
                add_point(damage, victim, file, kind, at);
            if (kind == CUT)
                add_point(damage, victim, file, kind, 0);
        }
        file++;
    }
    tree_list_free(&names);
    /* No stage looks into done/, and it is not searched for every job of failed/: of two copies that
     * will never be run, `dlspool check` tells. */
    bool done = strcmp(victims[victim].state, "done") == 0;
    bool never = strcmp(victims[victim].name, "bad-03") == 0;
    for (int i = 0; i < COPIES; i++)
        if (strncmp(copies[i], damage->places[victim], strlen(copies[i])) != 0 &&
            !((done || never) && i >= FIRST_UNSERVED))
            add_point(damage, victim, -1, i, 0);
}

/* Doing harm */

static void change_bit(const char *path, off_t at)
{
    struct buffer bytes = tree_read(path);
    bytes.data[at] = (char)(bytes.data[at] ^ (1 << at % 8));
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || pwrite(file, bytes.data + at, 1, at) != 1)
        harness_failed("%s could not be changed", path);
    close(file);
    buffer_free(&bytes);
}

static void harm_file(const char *path, const struct point *point)
{
    int result = 0;
    if (point->kind > CHANGED)
        tree_remove(path);
    switch (point->kind) {
    case CUT:
        result = truncate(path, point->at);
        break;
    case CHANGED:
        change_bit(path, point->at);
        break;
    case DIRECTORY:
        result = mkdir(path, 0755);
        break;
    case LINK:
        result = symlink("../../dlspool.yaml", path);
        break;
    case PIPE:
        result = mkfifo(path, 0644);
        break;
    case ENDLESS:
        tree_write(path, TEXT("x"), 0644);
        result = truncate(path, (off_t)1 << 40);
        break;
    default:
        break;
    }
    if (result)
        harness_failed("%s could not be damaged: %s", path, strerror(errno));
}

static void copy_job(const struct damage *damage, const struct world *world,
                     const struct point *point)
{
    char from[TREE_PATH_SIZE], to[TREE_PATH_SIZE];
    snprintf(to, sizeof(to), "%s/%s", world->spool, copies[point->kind]);
    if (mkdir(to, 0755) && errno != EEXIST)
        harness_failed("%s could not be made", to);
    snprintf(from, sizeof(from), "%s/%s", world->spool, damage->places[point->victim]);
    snprintf(to, sizeof(to), "%s/%s/%s", world->spool, copies[point->kind],
             damage->ids[point->victim]);
    tree_copy(from, to);
}

struct run {
    const struct world *world;
    const char *id;
};

/* How many directories of the spool have that name. */
static int count_places(const struct world *world, const char *id)
{
    static const char *const all[] = {"rendered", "submitted",       "failed",
                                      "held",     "done/2026-01-01", "done/2025-12-31"};
    char path[TREE_PATH_SIZE];
    int count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        snprintf(path, sizeof(path), "%s/%s/%s", world->spool, all[i], id);
        count += access(path, F_OK) == 0;
    }
    return count;
}

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct drive drive = {.most_rounds = MOST_ROUNDS};
    struct fault none = {0};
    world_enter(start_time + an_hour, 1);
    scheduler_install(run->world->outside, false);
    calls_install(&none);
    drive_run(&drive, run->world);
    calls_restore();
    struct check check = {.world = run->world,
                          .scene = scene_get(SCENE_THREE),
                          .ended = drive.finished,
                          .damaged = run->id};
    result->finding = invariants_check(&check);
    result->ending = drive.finished ? END_CHECKED : END_WEDGED;
    if (!drive.finished)
        drive_describe(run->world, result->why, WHY_SIZE);
    else
        snprintf(result->why, WHY_SIZE, "%s", check.why);
    if (drive.finished && !result->finding && count_places(run->world, run->id) != 1) {
        result->finding = FOUND_WRONG;
        snprintf(result->why, WHY_SIZE, "%s is in %d directories", run->id,
                 count_places(run->world, run->id));
    }
}

static void harm_at(struct worker *worker, void *context, int64_t number)
{
    const struct damage *damage = context;
    const struct point *point = &damage->points[number];
    struct world world;
    char path[TREE_PATH_SIZE];
    world_name(&world, worker->top, "world");
    tree_copy(damage->bases[victims[point->victim].stages].base, world.base);
    struct run run = {.world = &world, .id = damage->ids[point->victim]};
    atomic_fetch_add(&worker->tally->points, 1);
    if (point->file < 0) {
        copy_job(damage, &world, point);
        harness_run(worker, run_body, &run);
        harness_count(worker, "%s copied to %s", damage->places[point->victim],
                      copies[point->kind]);
    } else {
        const char *file = damage->files[point->victim][point->file];
        snprintf(path, sizeof(path), "%s/%s/%s", world.spool, damage->places[point->victim], file);
        harm_file(path, point);
        harness_run(worker, run_body, &run);
        harness_count(worker, "%s/%s %s at %lld", damage->places[point->victim], file,
                      kinds[point->kind].name, (long long)point->at);
    }
    tree_remove(world.base);
}

static void try_points(struct damage *damage, const char *what, bool duplicates)
{
    struct tally *tally = shared_memory(sizeof(*tally));
    struct damage some = *damage;
    some.points = memory_allocate((damage->count + 1) * sizeof(*some.points));
    some.count = 0;
    for (size_t i = 0; i < damage->count; i++)
        if ((damage->points[i].file < 0) == duplicates)
            some.points[some.count++] = damage->points[i];
    harness_try(what, tally, 0, (int64_t)some.count - 1, harm_at, &some);
    tap_ok(tally->points > 0 && tally_clean(tally),
           "%s: %lld points; %lld lost, %lld doubled, %lld otherwise wrong, %lld wedged", what,
           tally->points, tally->lost, tally->doubled, tally->wrong + tally->crashed,
           tally->wedged);
    free(some.points);
}

void test_damage(void)
{
    struct damage damage = {0};
    struct tally *tally = shared_memory(sizeof(*tally));
    struct worker worker = {.tally = tally, .test = "damage"};
    off_t stride = harness_one_in(STRIDE);
    snprintf(worker.top, sizeof(worker.top), "%s", harness_top);
    worker.result = shared_memory(sizeof(*worker.result));
    for (int stages = 1; stages <= 3; stages++) {
        char name[16];
        snprintf(name, sizeof(name), "base-%d", stages);
        world_make(&damage.bases[stages], harness_top, name, scene_get(SCENE_THREE));
        struct stretch stretch = {&damage.bases[stages], stages};
        if (harness_run(&worker, go_so_far, &stretch) != END_CHECKED)
            harness_failed("the jobs do not come to where they are to be damaged: %s",
                           worker.result->said);
    }
    for (int i = 0; i < MOST_VICTIMS; i++) {
        find_victim(&damage, i);
        add_points(&damage, i, stride);
    }
    try_points(&damage, "a file of a job is damaged", false);
    try_points(&damage, "a job is in two directories", true);
    free(damage.points);
}
