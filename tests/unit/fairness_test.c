/* tests/unit/fairness_test.c - an hour of five users, one of whom drops jobs without end: who gets how much
 *
 * The real submit stage goes round by round, while the time of the test's clock passes, above a machine that starts what
 * fits, or a cluster that takes jobs up to live_max and starts them in the order in which they came.  What
 * is counted is starts, and how long jobs waited, in the time of that clock.
 *
 * Seen to fail with: tests/mutants/queue-*.patch and tests/mutants/load-*.patch.
 */
#include "base/file.h"
#include "stage_fixture.h"

#include "base/sha256.h"
#include "stages/planning/forecast.h"

enum {
    FLOOD,  /* drops without end, at the highest priority that users may have */
    STEADY, /* has always a few that wait */
    ANOTHER,
    LARGE,  /* the same; each job takes half of the machine */
    SELDOM, /* one job every ten minutes */
    USERS
};

enum {
    SLOTS = 4,
    TICK = 60,
    LASTS = 120,
    HOUR = 3600,
    MOST_JOBS = 4096,
    BACKLOG = 16,
    LIVE_MAX = 12
};

struct simulated {
    char id[ID_SIZE];
    int user, cpus;
    int64_t dropped, started, ends; /* seconds; 0: not yet */
    bool taken, over;
};

static struct {
    bool queue;          /* it is a cluster: */
    bool planned;        /* somebody has a deadline, so jobs go by plan */
    bool flood_is_stuck; /* where what FLOOD has dropped never starts */
    int flood_priority;
    struct simulated jobs[MOST_JOBS];
    size_t count;
    size_t arrived[MOST_JOBS], arrived_count,
        next; /* in the order in which the cluster took them */
    int free;
    int waiting[USERS], starts[USERS];
    int64_t time, longest[USERS];
} world;

static struct simulated *job_of(const char *id)
{
    return &world.jobs[strtoul(strchr(id, '-') + 1, NULL, 10)];
}

static void start(struct simulated *job)
{
    int64_t wait = world.time - job->dropped;
    job->started = world.time;
    job->ends = world.time + LASTS;
    world.free -= job->cpus;
    world.starts[job->user]++;
    if (wait > world.longest[job->user])
        world.longest[job->user] = wait;
}

/* ---- the executor ---- */

static int my_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static int my_capacity(struct executor *executor, struct capacity *capacity, struct error *problem)
{
    (void)executor;
    (void)problem;
    *capacity = (struct capacity){.cpus = SLOTS * 1000,
                                  .cpus_free = world.free * 1000,
                                  .memory = 1 << 20,
                                  .memory_free = 1 << 20};
    return 0;
}

static int my_needs(struct executor *executor, struct text manifest, struct demand *demand)
{
    (void)executor;
    (void)manifest;
    (void)demand;
    return -1;
}

static void my_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        struct simulated *job = job_of(batch[i]->id);
        batch[i]->outcome = SUBMIT_ACCEPTED;
        batch[i]->note[0] = '\0';
        assert_false(job->taken);
        job->taken = true;
        world.waiting[job->user]--;
        if (world.queue) {
            world.arrived[world.arrived_count++] = (size_t)(job - world.jobs);
        } else {
            assert_true(job->cpus <= world.free);
            start(job);
        }
    }
}

static void my_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations machine = {.name = "mine",
                                                   .of_this_machine = true,
                                                   .ready = my_ready,
                                                   .submit = my_submit,
                                                   .capacity = my_capacity,
                                                   .needs = my_needs,
                                                   .close = my_close};
static const struct executor_operations cluster = {.name = "mine",
                                                   .ready = my_ready,
                                                   .submit = my_submit,
                                                   .capacity = my_capacity,
                                                   .close = my_close};

/* ---- time passes ---- */

static void drop(int user)
{
    static char digest[SHA256_HEX_SIZE];
    assert_true(world.count < MOST_JOBS);
    struct simulated *job = &world.jobs[world.count];
    *job = (struct simulated){
        .user = user, .cpus = user == LARGE ? SLOTS / 2 : 1, .dropped = world.time};
    snprintf(job->id, sizeof(job->id), "u%d-%013zu", user, world.count++);
    sha256_hex(TEXT(""), digest);
    struct job_record record = {.id = text_of(job->id),
                                .owner = TEXT("somebody"),
                                .uid = 1000 + (uid_t)user,
                                .accepted = now,
                                .attempt = 1,
                                .cpus = job->cpus * 1000,
                                .memory = 1,
                                .deadline = world.planned && user == SELDOM ? now + 86400000 : 0,
                                .deadline_mode =
                                    world.planned && user == SELDOM ? TEXT("count") : TEXT(""),
                                .priority = user == FLOOD ? world.flood_priority : 0,
                                .template_path = TEXT("local/any/single.yaml"),
                                .commit = TEXT("c0ffee"),
                                .image = TEXT("image"),
                                .arguments_sha256 = TEXT("none"),
                                .manifest_sha256 = text_of(digest),
                                .failure.exit_code = -1};
    put_job(STATE_RENDERED, &record, "2026-01-01T12:00:00.000Z accepted\n", NULL);
    world.waiting[user]++;
}

static void drop_jobs(void)
{
    while (world.waiting[FLOOD] < BACKLOG)
        drop(FLOOD);
    for (int user = STEADY; user <= LARGE; user++)
        while (world.waiting[user] < 3)
            drop(user);
    if (world.time % 600 == 0)
        drop(SELDOM);
}

static void end_jobs(void)
{
    for (size_t i = 0; i < world.count; i++) {
        struct simulated *job = &world.jobs[i];
        struct job_place place = {.state = STATE_SUBMITTED};
        if (!job->ends || job->over || job->ends > world.time)
            continue;
        memcpy(place.id, job->id, ID_SIZE);
        assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
        job->over = true;
        world.free += job->cpus;
    }
}

/* The cluster starts what it has, oldest first. */
static void start_jobs(void)
{
    for (size_t i = 0; i < world.arrived_count && world.queue; i++) {
        struct simulated *job = &world.jobs[world.arrived[i]];
        if (job->started || (job->user == FLOOD && world.flood_is_stuck))
            continue;
        if (job->cpus > world.free)
            return;
        start(job);
    }
}

static void simulate_hour(const char *settings)
{
    open_spool(&submit_stage, world.queue ? &cluster : &machine, 1767268800000);
    fake_executor.live_max = world.queue ? LIVE_MAX : 0;
    write_settings(settings);
    open_stage();
    for (world.time = 0; world.time < HOUR; world.time += TICK) {
        end_jobs();
        drop_jobs();
        start_jobs();
        run_round_after(TICK * 1000);
    }
    for (int user = 0; user < USERS; user++)
        print_message("user %d: %d started, longest wait %d s\n", user, world.starts[user],
                      (int)world.longest[user]);
}

/* All of these always had jobs that waited: each had as many turns as any other, but for those at the beginning, when
 * there was room for more. */
static void shares_are_equal(int from, int to, int starts)
{
    for (int user = from; user <= to; user++)
        assert_in_range(world.starts[user], starts, starts + 5);
}

static int begin(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.free = SLOTS;
    return 0;
}

static void on_a_machine(void **state)
{
    (void)state;
    simulate_hour("sync: none\n");
    shares_are_equal(FLOOD, LARGE, 20);
    assert_int_equal(world.starts[SELDOM], 6);
    assert_true(world.longest[SELDOM] <= 2 * LASTS);
}

static void on_a_cluster(void **state)
{
    (void)state;
    world.queue = true;
    simulate_hour("sync: none\n");
    shares_are_equal(FLOOD, LARGE, 20);
    assert_int_equal(world.starts[SELDOM], 6);
    /* What the cluster has already goes before: live_max, and one more that it runs. */
    assert_true(world.longest[SELDOM] <= (LIVE_MAX * 5 / 4 / SLOTS + 2) * LASTS);
}

/* A site lets users have priorities above 0, and one always asks for the highest. */
static void below_the_highest_priority_on_a_machine(void **state)
{
    (void)state;
    world.flood_priority = 50;
    simulate_hour("sync: none\nlimits: {priority: {users: [-100, 50]}}\n");
    for (int user = STEADY; user <= LARGE; user++)
        assert_in_range(world.starts[user], 5, 6);
    assert_true(world.longest[SELDOM] <= 600 + 2 * LASTS);
    assert_true(world.starts[FLOOD] >= 90);
}

static void below_the_highest_priority_on_a_cluster(void **state)
{
    (void)state;
    world.queue = true;
    world.flood_priority = 50;
    simulate_hour("sync: none\nlimits: {priority: {users: [-100, 50]}}\n");
    for (int user = STEADY; user <= LARGE; user++)
        assert_true(world.starts[user] >= 5);
    assert_true(world.longest[SELDOM] <= 600 + (LIVE_MAX / SLOTS + 2) * LASTS);
}

/* What an administrator has given a priority above users' goes before all the same. */
static void an_administrators_priority_goes_first(void **state)
{
    (void)state;
    world.flood_priority = 51;
    simulate_hour("sync: none\nlimits: {priority: {users: [-100, 50]}}\n");
    for (int user = STEADY; user < USERS; user++)
        assert_int_equal(world.starts[user], 0);
}

/* The cluster never starts what one of them submits: the others go on. */
static void beside_jobs_that_never_start(void **state)
{
    (void)state;
    world.queue = world.flood_is_stuck = true;
    simulate_hour("sync: none\n");
    assert_int_equal(world.starts[FLOOD], 0);
    shares_are_equal(STEADY, LARGE, 20);
    assert_int_equal(world.starts[SELDOM], 6);
    assert_true(world.longest[SELDOM] <= 5 * LASTS);
}

static void by_plan_on_a_machine(void **state)
{
    (void)state;
    world.planned = true;
    simulate_hour("sync: none\n");
    for (int user = FLOOD; user <= LARGE; user++)
        assert_true(world.starts[user] >= 15);
    assert_int_equal(world.starts[SELDOM], 6);
}

/* Where a plan says who starts, who asks for a lower priority has turns, too. */
static void by_plan_below_the_highest_priority(bool queue)
{
    world.queue = queue;
    world.planned = true;
    world.flood_priority = 50;
    simulate_hour("sync: none\nlimits: {priority: {users: [-100, 50]}}\n");
    /* A cluster has as much again before it. */
    for (int user = STEADY; user < USERS; user++)
        assert_true(world.starts[user] >= (queue ? 4 : 5));
    assert_true(world.longest[SELDOM] <= 600 + (queue ? 6 : 2) * LASTS);
}

static void by_plan_below_the_highest_priority_on_a_machine(void **state)
{
    (void)state;
    by_plan_below_the_highest_priority(false);
}

static void by_plan_below_the_highest_priority_on_a_cluster(void **state)
{
    (void)state;
    by_plan_below_the_highest_priority(true);
}

static void by_plan_below_an_administrators_priority(bool queue)
{
    world.queue = queue;
    world.planned = true;
    world.flood_priority = 51;
    simulate_hour("sync: none\nlimits: {priority: {users: [-100, 50]}}\n");
    for (int user = STEADY; user <= LARGE; user++)
        assert_int_equal(world.starts[user], 0);
}

static void by_plan_below_an_administrators_priority_on_a_machine(void **state)
{
    (void)state;
    by_plan_below_an_administrators_priority(false);
}

static void by_plan_below_an_administrators_priority_on_a_cluster(void **state)
{
    (void)state;
    by_plan_below_an_administrators_priority(true);
}

static double weight_of(int standing, int64_t overdue)
{
    struct runs *runs = runs_new(&spool);
    struct forecast_terms terms = {.now = now, .runs = runs, .overdue = 101};
    struct cached_job job = {.state = STATE_RENDERED,
                             .readable = true,
                             .record = {.id = TEXT("a-0000000000001"), .cpus = 1000, .size = 1},
                             .size = 1,
                             .standing = standing,
                             .overdue = overdue};
    runs_refresh(runs);
    forecast_job(&job, &terms);
    free(job.levels);
    runs_free(runs);
    return job.plan.weight;
}

/* Short jobs and those that run count for up to four times as much to the planner. */
static void overdue_turns_weigh_more_than_short_jobs(void **state)
{
    (void)state;
    open_spool(&submit_stage, &machine, 1767268800000);
    assert_true(weight_of(101, 1000) > 4 * weight_of(100, 0));
    assert_true(weight_of(102, 0) > 4 * weight_of(101, 1000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(on_a_machine),
        TEST(on_a_cluster),
        TEST(below_the_highest_priority_on_a_machine),
        TEST(below_the_highest_priority_on_a_cluster),
        TEST(an_administrators_priority_goes_first),
        TEST(by_plan_on_a_machine),
        TEST(by_plan_below_the_highest_priority_on_a_machine),
        TEST(by_plan_below_the_highest_priority_on_a_cluster),
        TEST(by_plan_below_an_administrators_priority_on_a_machine),
        TEST(by_plan_below_an_administrators_priority_on_a_cluster),
        TEST(overdue_turns_weigh_more_than_short_jobs),
        TEST(beside_jobs_that_never_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
