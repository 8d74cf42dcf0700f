/* tests/crash/power.c - the machine loses its power
 *
 * One run is recorded (recorder.h).  Then, for every point of it, disks are built as a power cut
 * there may leave them, and recovered from.  The model of the disk, harsher than any file system:
 *
 *   - bytes written to a file are durable once the file was synced afterwards, or all was;
 *   - a name that was added, renamed or removed is durable once the directory that it is now in
 *     (from which it was removed) was synced afterwards, or all was; a rename is one step;
 *   - of all else each may have come to the disk or not, in any order.  Where bytes have not, a
 *     file is shorter.  What cannot be is left out: the second step of a file whose first is
 *     missing.
 *
 * For each point are tried: nothing that is not durable; all of it; each name's step missing alone;
 * each there alone; random choices; and each of these with the bytes that are not durable missing,
 * half there, and there.  The scheduler is another machine and knows what it knew.
 *
 * A disk whose syncs of directories, or of files, do nothing must be caught: that is a test of the
 * harness.
 *
 * Seen to fail with: tests/mutants/accept-syncs-nothing.patch, accept-makes-no-move-durable.patch,
 * submit-syncs-no-intents.patch, submit-syncs-no-outcomes.patch and token-revocation-is-not-durable.patch.
 */
#include "tests/crash/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/crash/calls.h"
#include "tests/crash/drive.h"
#include "tests/crash/recorder.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

enum { MOST_ROUNDS = 400, RANDOM_CHOICES = 6 };
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */
static const int64_t an_hour = 60 * 60 * 1000;   /* milliseconds */

enum flaw { FLAW_NONE, FLAW_DIRECTORIES, FLAW_FILES };

/* What of the bytes that are not durable is there. */
enum bytes { BYTES_NONE, BYTES_HALF, BYTES_ALL, BYTES_RANDOM, BYTES_KINDS };

struct power {
    const struct scene *scene;
    struct trace *trace;
    enum flaw flaw;
    unsigned int one_in; /* of the different disks, so many is tried */
};

/* The disk at a point: which operations are on it */

struct disk {
    const struct power *power;
    int point; /* operations before this one were made */
    bool durable[MOST_OPS];
    bool there[MOST_OPS]; /* durable, or chosen */
    int open[MOST_OPS];   /* the names' steps that are not durable */
    int open_count;
    enum bytes bytes;
    /* Names, as they come out. */
    struct {
        int parent, node;
        char name[128];
    } names[MOST_NODES];
    int name_count;
    /* Bytes, as they come out. */
    char *content[MOST_NODES];
    size_t length[MOST_NODES];
    mode_t mode[MOST_NODES];
};

static bool is_name_step(const struct op *op)
{
    return op->kind == OP_ADD || op->kind == OP_RENAME || op->kind == OP_REMOVE;
}

static bool makes_durable(const struct disk *disk, const struct op *sync, const struct op *op)
{
    bool all = sync->kind == OP_SYNC_ALL;
    if (is_name_step(op))
        return disk->power->flaw != FLAW_DIRECTORIES &&
               (all || sync->node == (op->kind == OP_REMOVE ? op->from : op->to));
    return disk->power->flaw != FLAW_FILES && (all || sync->node == op->node);
}

static void find_durable(struct disk *disk)
{
    const struct op *ops = disk->power->trace->ops;
    disk->open_count = 0;
    for (int i = 0; i < disk->point; i++) {
        bool fixed = !is_name_step(&ops[i]) && ops[i].kind != OP_WRITE;
        for (int k = i + 1; k < disk->point && !fixed; k++)
            fixed = (ops[k].kind == OP_SYNC || ops[k].kind == OP_SYNC_ALL) &&
                    makes_durable(disk, &ops[k], &ops[i]);
        disk->durable[i] = fixed;
        if (!fixed && is_name_step(&ops[i]))
            disk->open[disk->open_count++] = i;
    }
}

/* Building it in memory */

static int find_name(const struct disk *disk, int parent, const char *name)
{
    for (int i = 0; i < disk->name_count; i++)
        if (disk->names[i].parent == parent && strcmp(disk->names[i].name, name) == 0)
            return i;
    return -1;
}

static void put_name(struct disk *disk, int parent, const char *name, int node)
{
    int at = find_name(disk, parent, name);
    if (at < 0)
        at = disk->name_count++;
    disk->names[at].parent = parent;
    disk->names[at].node = node;
    snprintf(disk->names[at].name, sizeof(disk->names[at].name), "%s", name);
}

static void take_name(struct disk *disk, int at)
{
    disk->names[at] = disk->names[--disk->name_count];
}

/* False when this operation cannot have come to the disk without another that is missing. */
static bool apply_step(struct disk *disk, const struct op *op)
{
    int at;
    switch (op->kind) {
    case OP_ADD:
        put_name(disk, op->to, op->name, op->node);
        return true;
    case OP_RENAME:
        at = find_name(disk, op->from, op->name);
        if (at < 0 || disk->names[at].node != op->node)
            return false;
        take_name(disk, at);
        put_name(disk, op->to, op->new_name, op->node);
        return true;
    case OP_REMOVE:
        at = find_name(disk, op->from, op->name);
        if (at >= 0)
            take_name(disk, at);
        return true;
    default:
        return true;
    }
}

static void put_bytes(struct disk *disk, int node, off_t offset, const char *bytes, size_t length)
{
    size_t end = (size_t)offset + length;
    if (end > disk->length[node]) {
        disk->content[node] = memory_resize(disk->content[node], end);
        memset(disk->content[node] + disk->length[node], 0, end - disk->length[node]);
        disk->length[node] = end;
    }
    if (length)
        memcpy(disk->content[node] + offset, bytes, length);
}

static size_t share_of(enum bytes bytes, size_t length)
{
    switch (bytes) {
    case BYTES_NONE:
        return 0;
    case BYTES_HALF:
        return length / 2;
    case BYTES_RANDOM:
        return (size_t)random() % (length + 1);
    default:
        return length;
    }
}

static void start_disk(struct disk *disk)
{
    const struct trace *trace = disk->power->trace;
    disk->name_count = 0;
    for (int i = 0; i < trace->node_count; i++) {
        const struct node *node = &trace->nodes[i];
        disk->length[i] = 0;
        disk->mode[i] = node->mode;
        if (!node->first)
            continue;
        put_bytes(disk, i, 0, trace->bytes + node->start, node->length);
        if (node->parent >= 0)
            put_name(disk, node->parent, node->name, i);
    }
}

/* False when the choice cannot be. */
static bool build(struct disk *disk)
{
    const struct trace *trace = disk->power->trace;
    start_disk(disk);
    for (int i = 0; i < disk->point; i++) {
        const struct op *op = &trace->ops[i];
        if (is_name_step(op) && disk->there[i] && !apply_step(disk, op))
            return false;
        if (op->kind == OP_MODE)
            disk->mode[op->node] = op->mode;
        if (op->kind == OP_WRITE)
            put_bytes(disk, op->node, op->offset, trace->bytes + op->start,
                      disk->durable[i] ? op->length : share_of(disk->bytes, op->length));
    }
    return true;
}

/* Telling disks apart, and putting them down */

static uint64_t digest_node(const struct disk *disk, int node)
{
    const struct trace *trace = disk->power->trace;
    uint64_t digest = digest_bytes(0, &trace->nodes[node].kind, sizeof(trace->nodes[node].kind));
    digest = digest_bytes(digest, disk->content[node], disk->length[node]);
    if (trace->nodes[node].kind != NODE_DIRECTORY)
        return digest;
    /* The names' digests are added, so that their order does not matter. */
    uint64_t sum = 0;
    for (int i = 0; i < disk->name_count; i++) {
        if (disk->names[i].parent != node)
            continue;
        uint64_t below = digest_node(disk, disk->names[i].node);
        sum += digest_bytes(below, disk->names[i].name, strlen(disk->names[i].name));
    }
    return digest_bytes(digest, &sum, sizeof(sum));
}

static uint64_t digest_disk(const struct disk *disk)
{
    int outside = 0;
    for (int i = 0; i < disk->point; i++)
        outside += disk->power->trace->ops[i].kind == OP_OUTSIDE;
    return digest_bytes(digest_node(disk, 0), &outside, sizeof(outside));
}

static void put_down(const struct disk *disk, int node, const char *path)
{
    const struct trace *trace = disk->power->trace;
    struct text bytes = {disk->content[node] ? disk->content[node] : "", disk->length[node]};
    char target[512];
    switch (trace->nodes[node].kind) {
    case NODE_FILE:
        tree_write(path, bytes, disk->mode[node]);
        return;
    case NODE_LINK:
        snprintf(target, sizeof(target), "%.*s", (int)bytes.length, bytes.data);
        if (symlink(target, path))
            harness_failed("%s could not be made", path);
        return;
    case NODE_DIRECTORY:
        tree_make(path, disk->mode[node]);
        break;
    }
    for (int i = 0; i < disk->name_count; i++) {
        char below[TREE_PATH_SIZE];
        if (disk->names[i].parent != node)
            continue;
        snprintf(below, sizeof(below), "%.1500s/%s", path, disk->names[i].name);
        put_down(disk, disk->names[i].node, below);
    }
}

static void put_outside(const struct disk *disk, const struct world *world)
{
    const struct trace *trace = disk->power->trace;
    tree_make(world->outside, 0755);
    for (int i = 0; i < disk->point; i++) {
        const struct op *op = &trace->ops[i];
        char path[TREE_PATH_SIZE];
        if (op->kind != OP_OUTSIDE)
            continue;
        snprintf(path, sizeof(path), "%s/%s", world->outside, op->name);
        FILE *file = fopen(path, "ae");
        if (!file || fwrite(trace->bytes + op->start, 1, op->length, file) != op->length ||
            fclose(file))
            harness_failed("%s could not be written", path);
    }
}

/* Recovering */

struct run {
    const struct world *world;
    const struct scene *scene;
    struct trace *trace; /* record into it; or NULL */
};

/* What a user knows of having done is on no disk that loses its power. */
static void note_dropped(const char *file, const char *bytes)
{
    bool revokes = strcmp(file, "revoke.yaml") == 0;
    if (revokes)
        recorder_outside("revoking.note", TEXT("so\n"));
    recorder_drop(file, bytes);
    if (revokes)
        recorder_outside("revoked.note", TEXT("so\n"));
}

static void run_body(struct result *result, void *context)
{
    const struct run *run = context;
    struct drive drive = {.most_rounds = MOST_ROUNDS};
    world_enter(start_time + (run->trace ? 0 : an_hour), run->trace ? 0 : 1);
    scheduler_install(run->world->outside, false);
    scheduler_has_room(run->scene->dropped[0].kind == KIND_WIDE);
    world_is_deaf(run->scene->dropped[0].kind == KIND_RAISED);
    if (run->trace) {
        recorder_install(run->trace, run->world);
        scheduler_observe(recorder_outside);
        drive.seen = note_dropped;
    } else {
        calls_install(&(struct fault){.kind = FAULT_NONE});
    }
    drive_run(&drive, run->world);
    if (run->trace)
        recorder_restore();
    else
        calls_restore();
    result->rounds = drive.rounds;
    struct check check = {.world = run->world, .scene = run->scene, .ended = drive.finished};
    result->finding = invariants_check(&check);
    result->ending = drive.finished ? END_CHECKED : END_WEDGED;
    if (drive.finished)
        snprintf(result->why, WHY_SIZE, "%s", check.why);
    else
        drive_describe(run->world, result->why, WHY_SIZE);
}

static void try_disk(struct worker *worker, struct disk *disk, const char *which)
{
    struct world world;
    if (!build(disk))
        return;
    atomic_fetch_add(&worker->tally->points, 1);
    uint64_t digest = digest_disk(disk);
    if (digest % disk->power->one_in || !harness_is_new(digest))
        return;
    atomic_fetch_add(&worker->tally->states, 1);
    world_name(&world, worker->top, "world");
    tree_make(world.base, 0755);
    put_down(disk, 0, world.spool);
    put_outside(disk, &world);
    struct run run = {.world = &world, .scene = disk->power->scene};
    harness_run(worker, run_body, &run);
    harness_count(worker, "power lost before operation %d, %s, bytes %d", disk->point, which,
                  (int)disk->bytes);
    if (getenv("CRASH_KEEP") && (worker->result->finding || worker->result->ending != END_CHECKED))
        harness_failed("kept: %s", world.base);
    tree_remove(world.base);
}

/* `there` of the open steps is chosen; try it with all kinds of bytes. */
static void try_choice(struct worker *worker, struct disk *disk, const char *which)
{
    for (int i = 0; i < disk->point; i++)
        if (disk->durable[i])
            disk->there[i] = true;
    for (int bytes = 0; bytes < BYTES_RANDOM; bytes++) {
        disk->bytes = (enum bytes)bytes;
        try_disk(worker, disk, which);
    }
}

static void choose_all(struct disk *disk, bool there)
{
    for (int i = 0; i < disk->open_count; i++)
        disk->there[disk->open[i]] = there;
}

static void lose_power_at(struct worker *worker, void *context, int64_t number)
{
    static struct disk disk;
    disk.power = context;
    disk.point = (int)number;
    srandom((unsigned int)number);
    find_durable(&disk);
    choose_all(&disk, false);
    try_choice(worker, &disk, "nothing open is there");
    choose_all(&disk, true);
    try_choice(worker, &disk, "all that is open is there");
    for (int i = 0; i < disk.open_count; i++) {
        char which[128];
        choose_all(&disk, true);
        disk.there[disk.open[i]] = false;
        snprintf(which, sizeof(which), "only operation %d is missing", disk.open[i]);
        try_choice(worker, &disk, which);
        choose_all(&disk, false);
        disk.there[disk.open[i]] = true;
        snprintf(which, sizeof(which), "only operation %d is there", disk.open[i]);
        try_choice(worker, &disk, which);
    }
    for (int i = 0; i < RANDOM_CHOICES; i++) {
        for (int k = 0; k < disk.open_count; k++)
            disk.there[disk.open[k]] = random() & 1;
        for (int k = 0; k < disk.point; k++)
            disk.there[k] = disk.there[k] || disk.durable[k];
        disk.bytes = BYTES_RANDOM;
        try_disk(worker, &disk, "a random choice");
    }
}

/* Tests */

static void record(struct worker *worker, void *context, int64_t number)
{
    struct power *power = context;
    struct world world;
    (void)number;
    world_make(&world, worker->top, "world", power->scene);
    struct run run = {.world = &world, .scene = power->scene, .trace = power->trace};
    harness_run(worker, run_body, &run);
    harness_count(worker, "while recording");
    tree_remove(world.base);
}

static struct tally *lose_power(int which, enum flaw flaw, unsigned int one_in, bool quiet)
{
    struct power power = {.scene = scene_get(which),
                          .flaw = flaw,
                          .one_in = (unsigned int)harness_one_in((int)one_in),
                          .trace = shared_memory(sizeof(*power.trace))};
    struct tally *tally = shared_memory(sizeof(*tally));
    harness_try(power.scene->title, tally, 1, 1, record, &power);
    if (quiet)
        tally->said = 1000;
    harness_forget_states();
    harness_try(power.scene->title, tally, 0, power.trace->op_count, lose_power_at, &power);
    shared_memory_free(power.trace, sizeof(*power.trace));
    return tally;
}

static void try_power(int which, unsigned int one_in)
{
    if (!harness_wants(scene_get(which)->title))
        return;
    const struct tally *tally = lose_power(which, FLAW_NONE, one_in, false);
    tap_ok(tally->states > 0 && tally_clean(tally),
           "power lost at every operation, %s: %lld disks, %lld different; %lld lost, %lld "
           "doubled, %lld otherwise wrong, %lld wedged",
           scene_get(which)->title, tally->points, tally->states, tally->lost, tally->doubled,
           tally->wrong + tally->crashed, tally->wedged);
}

void test_power(void)
{
    /* Primes; of the longer runs not every disk is tried here, but with CRASH_EVERY=1. */
    try_power(SCENE_ONE, 1);
    try_power(SCENE_ONE_FLAKY, 5);
    try_power(SCENE_ONE_TIGHT, 1);
    try_power(SCENE_THREE, 17);
    try_power(SCENE_THREE_KILLED, 17);
    try_power(SCENE_AFTER, 23);
    try_power(SCENE_ONE_GROWN, 5);
    try_power(SCENE_ONE_MOVED, 11);
    try_power(SCENE_ONE_WIDE, 1);
    try_power(SCENE_TOKENS, 1);
    try_power(SCENE_AGAIN, 1);
    try_power(SCENE_RECLAIMED, 7);
    try_power(SCENE_BATCHES, 5);
    if (geteuid() == 0)
        try_power(SCENE_ONE_RAISED, 7);
    const struct tally *tally = lose_power(SCENE_ONE_FLAKY, FLAW_DIRECTORIES, 17, true);
    tap_ok(tally->lost + tally->doubled > 0,
           "the harness catches a disk that does not sync directories: %lld different, %lld lost, "
           "%lld doubled",
           tally->states, tally->lost, tally->doubled);
    tally = lose_power(SCENE_ONE, FLAW_FILES, 5, true);
    tap_ok(tally->lost + tally->wrong > 0,
           "the harness catches a disk that does not sync files: %lld different, %lld lost, %lld "
           "wrong",
           tally->states, tally->lost, tally->wrong);
}
