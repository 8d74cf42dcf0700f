/* tests/crash/takeover.c - daemons that are killed, stopped and failed while one takes over from another
 *
 * Two or three daemons share a process here, and take turns: one is stopped before a call by letting the
 * others run from there, and is killed by never going back to it.  Time is the world's, names of hosts and
 * numbers of processes are the daemon's own, and locks are of three kinds: those that all hosts share,
 * those that each host has for itself (NFSv3 with nolock), and none.
 *
 * killed     one is killed before each call of taking, renewing and releasing; the next serves at once on the
 *            same host, and within takeover_time elsewhere, and leaves nothing of the first behind
 * stopped    one is stopped before each of them, another takes over, and the first goes on: it does not serve
 * both       while one is stopped, a second is killed before each call, and a third serves in the end; and
 *            again without a third: then the first does, when it goes on
 * failed     each call fails, with or without having done its work, or is made twice: one serves in the end
 *
 * Always: the epoch in .lease does not fall, and no two daemons ever have the same.
 *
 * Seen to fail with: tests/mutants/epoch-believes-the-link.patch, epoch-believes-the-rename.patch,
 * epoch-leaves-lower-claims.patch, epoch-withdraws-nothing.patch, lease-does-not-look-again.patch,
 * lease-sees-claims-late.patch and lease-waits-for-every-claim.patch.
 */
#include "tests/crash/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/directory.h"
#include "base/system.h"
#include "stages/lease.h"
#include "tests/crash/calls.h"
#include "tests/crash/scene.h"
#include "tests/crash/tree.h"

enum { TAKEOVER = 60000, STEP = TAKEOVER / 4, MOST_EPOCHS = 64, BOTH_STRIDE = 29 };
static const int64_t start_time = 1767268800000; /* 2026-01-01T12:00Z */

enum locks { LOCKS_SHARED, LOCKS_PER_HOST, LOCKS_NONE, LOCKS_KINDS };
static const char *const locks_names[] = {"shared locks", "locks of each host", "no locks"};
enum begin { BEGIN_FRESH, BEGIN_RELEASED, BEGIN_DEAD, BEGIN_DEAD_UNLOCKED, BEGIN_KINDS };
static const char *const begin_lines[] = {"", "3 z 77 released 1\n", "3 z 77 locked 1\n",
                                          "3 z 77 unlocked 1\n"};

struct daemon {
    const char *host;
    pid_t process;
    struct lease lease;
    bool has_lock, serves;
    bool once;                /* it tries to take over no more than it is doing */
    int64_t calls;            /* it has made */
    int64_t kill_at, stop_at; /* before which call; 0: never */
    sigjmp_buf death;
    void (*meanwhile)(void); /* what happens while it is stopped */
};

static struct spool spool;
static enum locks locks;
static struct daemon daemons[3];
static struct daemon *acting;
static pid_t owners[MOST_EPOCHS];
static int64_t highest;
static char *why; /* the first thing that does not hold; "" */
static enum finding found;

static void find(enum finding finding, const char *text)
{
    if (found != FOUND_GOOD)
        return;
    found = finding;
    snprintf(why, WHY_SIZE, "%s", text);
}

/* In place of libc's: daemons have a host and a number each. */
int gethostname(char *name, size_t length)
{
    snprintf(name, length, "%s", acting ? acting->host : "vm");
    return 0;
}

pid_t getpid(void)
{
    return acting ? acting->process : (pid_t)syscall(SYS_getpid);
}

static int table_lock(int file, short type)
{
    (void)file;
    if (type == F_UNLCK) {
        acting->has_lock = false;
        return 0;
    }
    if (locks == LOCKS_NONE) {
        errno = ENOLCK;
        return -1;
    }
    for (size_t i = 0; i < ARRAY_COUNT(daemons); i++) {
        struct daemon *other = &daemons[i];
        if (other != acting && other->has_lock &&
            (locks == LOCKS_SHARED || strcmp(other->host, acting->host) == 0)) {
            errno = EAGAIN;
            return -1;
        }
    }
    acting->has_lock = true;
    return 0;
}

/* Look at .lease, by the machine's own calls. */
static void look_at_lease(void)
{
    char text[LEASE_TEXT_SIZE] = "";
    struct lease_line line;
    int file = openat(spool.root, ".lease", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    if (length <= 0 || !lease_line_parse(text, &line) || line.epoch >= MOST_EPOCHS) {
        find(FOUND_WRONG, ".lease is not whole");
        return;
    }
    if (line.epoch < highest)
        find(FOUND_WRONG, "the epoch fell");
    highest = line.epoch;
    if (owners[line.epoch] && owners[line.epoch] != line.process)
        find(FOUND_DOUBLED, "two daemons had the same epoch");
    owners[line.epoch] = line.process;
}

static void act_as(struct daemon *daemon)
{
    acting = daemon;
    world_enter(world_time(), (int)(daemon - daemons));
}

/* Before each call of whoever acts. */
static void before_call(int64_t next)
{
    struct daemon *me = acting;
    (void)next;
    look_at_lease();
    me->calls++;
    if (me->calls == me->kill_at)
        siglongjmp(me->death, 1);
    if (me->calls == me->stop_at) {
        me->once = true;
        me->meanwhile();
        act_as(me);
    }
}

/* Try to serve, every STEP.  How long it took; -1: it was not to be within `limit`. */
static int64_t serve(struct daemon *daemon, int64_t limit)
{
    int64_t begun = world_time();
    char who[LEASE_WHO_SIZE];
    struct error error;
    for (int try = 0; world_time() - begun <= limit; world_wait_until(world_time() + STEP)) {
        world_enter(world_time(), (int)(daemon - daemons) + try++ * (int)ARRAY_COUNT(daemons));
        int taken = lease_take(&daemon->lease, who, &error);
        if (taken > 0) {
            daemon->serves = true;
            return world_time() - begun;
        }
        if (daemon->once)
            return -1;
    }
    return -1;
}

/* Serve for a while, and leave.  1: it came to its end, 0: it was killed. */
static int live(struct daemon *daemon)
{
    struct error error;
    act_as(daemon);
    if (sigsetjmp(daemon->death, 0)) {
        daemon->has_lock = daemon->serves = false;
        return 0;
    }
    lease_open(&daemon->lease, &spool, TAKEOVER);
    if (serve(daemon, 2 * TAKEOVER) >= 0)
        for (int i = 0; i < 2 && !daemon->once; i++) {
            world_wait_until(world_time() + TAKEOVER / 6);
            if (lease_renew(&daemon->lease, &error))
                daemon->serves = false;
        }
    if (!daemon->once) {
        lease_release(&daemon->lease);
        daemon->has_lock = daemon->serves = false;
    }
    return 1;
}

/* Serve, from now on, and check that it begins within `limit`. */
static void serve_within(struct daemon *daemon, int64_t limit)
{
    char text[WHY_SIZE];
    act_as(daemon);
    lease_open(&daemon->lease, &spool, TAKEOVER);
    int64_t took = serve(daemon, 3 * TAKEOVER);
    snprintf(text, sizeof(text), "%s took over after %lld ms instead of %lld", daemon->host,
             (long long)took, (long long)limit);
    if (took < 0 || took > limit)
        find(FOUND_LOST, text);
}

static int count_left(void *context, const char *name, unsigned char type)
{
    int *count = context;
    (void)type;
    *count += strncmp(name, ".epoch-", 7) == 0 || strncmp(name, ".lease-", 7) == 0;
    return 0;
}

/* One daemon serves, which is `this`, and nothing of the others is left. */
static void check_serving(struct daemon *this)
{
    int in_force = 0, left = 0;
    act_as(this);
    look_at_lease();
    for (size_t i = 0; i < ARRAY_COUNT(daemons); i++)
        in_force += daemons[i].serves && lease_check_epoch(&spool, daemons[i].lease.epoch) == 1;
    if (in_force != 1)
        find(in_force ? FOUND_DOUBLED : FOUND_LOST, in_force ? "two serve" : "nobody serves");
    if (!this->serves || lease_check_epoch(&spool, this->lease.epoch) != 1)
        find(FOUND_WRONG, "another than who took over serves");
    directory_walk(spool.root, count_left, &left);
    if (left != 1)
        find(FOUND_WRONG, "something is left of a takeover that was not to be");
}

/* What is tried */

struct way {
    int64_t number; /* of all kinds */
    harness_body *body;
    char path[512];
    enum locks locks;
    enum begin begin;
    bool same_host;
    int64_t at;
    struct fault fault;
};

/* Every attempt in a process begins with the same descriptors, and no file that tells of a daemon. */
static int first_free;

static int remove_left(void *context, const char *name, unsigned char type)
{
    (void)context;
    (void)type;
    if (strncmp(name, ".epoch-", 7) == 0 || strncmp(name, ".lease", 6) == 0)
        unlinkat(spool.root, name, 0);
    return 0;
}

static void begin(const struct way *way, struct result *result)
{
    struct error error;
    if (!first_free) {
        sys.lock = table_lock;
        if (spool_open(&spool, way->path, &error))
            harness_failed("%s", error.text);
        first_free = dup(spool.root);
    }
    close_range((unsigned)first_free, ~0u, 0);
    directory_walk(spool.root, remove_left, NULL);
    why = result->why;
    found = FOUND_GOOD;
    highest = 0;
    locks = way->locks;
    memset(owners, 0, sizeof(owners));
    static const char *const hosts[] = {"a", "b", "c"};
    for (size_t i = 0; i < ARRAY_COUNT(daemons); i++)
        daemons[i] =
            (struct daemon){.host = way->same_host ? "a" : hosts[i], .process = (pid_t)(100 + i)};
    const char *line = begin_lines[way->begin];
    int file = *line ? openat(spool.root, ".lease", O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (file >= 0 && write(file, line, strlen(line)) != (ssize_t)strlen(line))
        harness_failed("no lease");
    world_enter(start_time, 0);
    act_as(&daemons[0]);
    calls_install(&way->fault);
    calls_stop_each(before_call);
}

static void end(struct result *result)
{
    calls_stop_each(NULL);
    calls_restore();
    acting = NULL;
    result->finding = found;
}

/* How long it may take until another serves, when what is there now is all that will come of the first: by the
 * lease, and by a claim that is newer. */
static int64_t longest_wait(const struct way *way)
{
    static const int64_t by_begin[] = {0, 0, TAKEOVER / 2, TAKEOVER};
    int64_t of_before =
        way->locks == LOCKS_NONE && by_begin[way->begin] ? TAKEOVER : by_begin[way->begin];
    int64_t of_first = way->locks == LOCKS_NONE ? TAKEOVER : way->same_host ? 0 : TAKEOVER / 2;
    return of_first > of_before || highest > 3 || !way->begin ? of_first : of_before;
}

static void killed_body(struct result *result, void *context)
{
    const struct way *way = context;
    begin(way, result);
    daemons[0].kill_at = way->at;
    if (live(&daemons[0]) == 0) {
        look_at_lease();
        serve_within(&daemons[1], longest_wait(way));
        check_serving(&daemons[1]);
    } else
        result->finished_in_fault = true; /* there is no such call */
    end(result);
}

static void second_serves(void)
{
    serve_within(&daemons[1], TAKEOVER);
}

static void stopped_body(struct result *result, void *context)
{
    const struct way *way = context;
    begin(way, result);
    daemons[0].stop_at = way->at;
    daemons[0].meanwhile = second_serves;
    live(&daemons[0]);
    result->finished_in_fault = !daemons[0].once;
    if (daemons[0].once)
        check_serving(&daemons[1]);
    end(result);
}

static void second_is_killed(void)
{
    if (live(&daemons[1]))
        daemons[1].kill_at = 0; /* there was no such call */
}

static void second_is_killed_third_serves(void)
{
    second_is_killed();
    serve_within(&daemons[2], TAKEOVER);
}

/* For one call of the first, all calls of the second, or without CRASH_EVERY some of them. */
static void both_body(struct result *result, void *context)
{
    const struct way *way = context;
    int stride = harness_one_in(BOTH_STRIDE);
    for (int third = 0; third < 2; third++)
        for (int64_t at = 1 + way->at % stride;; at += stride) {
            begin(way, result);
            daemons[0].stop_at = way->at;
            daemons[0].meanwhile = third ? second_is_killed_third_serves : second_is_killed;
            daemons[1].kill_at = at;
            live(&daemons[0]);
            result->finished_in_fault = !daemons[0].once;
            bool last = !daemons[0].once || !daemons[1].kill_at;
            if (daemons[0].once && third)
                check_serving(&daemons[2]);
            else if (daemons[0].once) {
                daemons[0].once = daemons[0].serves = false;
                serve_within(&daemons[0], TAKEOVER);
                check_serving(&daemons[0]);
            }
            result->calls = at;
            result->rounds++;
            end(result);
            if (last || found != FOUND_GOOD)
                break;
        }
}

static void failed_body(struct result *result, void *context)
{
    const struct way *way = context;
    begin(way, result);
    serve_within(&daemons[0], 2 * TAKEOVER);
    result->finished_in_fault = !calls_hit();
    if (result->finished_in_fault) { /* it would meet the check's own calls */
        end(result);
        return;
    }
    check_serving(&daemons[0]);
    /* What was only made twice has been made. */
    if (way->fault.number == FAULT_REPEATED && daemons[0].lease.epoch != (way->begin ? 4 : 1))
        find(FOUND_WRONG, "it took more than one claim");
    end(result);
}

struct series {
    const char *name;
    harness_body *body;
    int number; /* of the fault; 0: none */
    bool done;
};

/* All calls of the first, or with CRASH_FEWER some, in one process, until something is found.  The kinds take turns,
 * so that all of them together meet every call. */
static void all_calls(struct result *result, void *context)
{
    struct way *way = context;
    result->ending = END_CHECKED;
    int rounds = 0, stride = harness_one_in(1);
    for (way->at = 1 + way->number % stride;
         !result->finished_in_fault && result->finding == FOUND_GOOD; way->at += stride) {
        way->fault.at = way->at;
        way->body(result, way);
        rounds++;
    }
    result->rounds = result->rounds ? result->rounds : rounds;
    char what[WHY_SIZE];
    snprintf(what, sizeof(what), "%s", result->why);
    snprintf(result->why, WHY_SIZE, "at call %lld, %lld: %.800s", (long long)(way->at - stride),
             (long long)result->calls, what);
}

/* One number is one kind of locks, of hosts and of what there was before. */
static void try_way(struct worker *worker, void *context, int64_t number)
{
    const struct series *series = context;
    struct way way = {.number = number,
                      .body = series->body,
                      .locks = (enum locks)(number % LOCKS_KINDS),
                      .begin = (enum begin)(number / LOCKS_KINDS % BEGIN_KINDS),
                      .same_host = number / LOCKS_KINDS / BEGIN_KINDS,
                      .fault = {series->number ? FAULT_ERROR : FAULT_NONE, .number = series->number,
                                .done = series->done}};
    struct error error;
    snprintf(way.path, sizeof(way.path), "%s/takeover", worker->top);
    tree_remove(way.path);
    if (spool_create(way.path, &error))
        harness_failed("%s", error.text);
    harness_run(worker, all_calls, &way);
    atomic_fetch_add(&worker->tally->points, worker->result->rounds);
    harness_count(worker, "%s, %s, after \"%.*s\"", locks_names[way.locks],
                  way.same_host ? "one host" : "two hosts",
                  (int)strcspn(begin_lines[way.begin], "\n"), begin_lines[way.begin]);
}

static void try_series(struct series *series)
{
    struct tally *tally = shared_memory(sizeof(*tally));
    harness_try(series->name, tally, 0, LOCKS_KINDS * BEGIN_KINDS * 2 - 1, try_way, series);
    tap_ok(
        tally->points > 0 && tally_clean(tally),
        "taking over, %s: %lld points; %lld without service, %lld with two, %lld otherwise wrong",
        series->name, tally->points, tally->lost, tally->doubled, tally->wrong + tally->crashed);
}

void test_takeover(void)
{
    static struct series series[] = {
        {"killed", killed_body, 0, false},
        {"stopped", stopped_body, 0, false},
        {"one stopped and one killed", both_body, 0, false},
        {"failed", failed_body, EIO, false},
        {"failed after its work", failed_body, EIO, true},
        {"full", failed_body, ENOSPC, false},
        {"asked twice", failed_body, FAULT_REPEATED, true},
    };
    for (size_t i = 0; i < ARRAY_COUNT(series); i++)
        try_series(&series[i]);
}
