/* shares_test.c - days of users who always have jobs that wait: each gets the share that `shares` of dlspool.yaml
 * gives them
 *
 * The real submit stage goes round by round, while the time of the test's clock passes, above a machine that starts
 * what fits, or a cluster that takes jobs up to live_max and starts them in the order in which they came.  What is
 * counted is what they had of it, on the executor's side.
 */
#include "tests/unit/stage_fixture.h"

#include "base/sha256.h"
#include "spool/usage.h"

enum { USERS = 4, SLOTS = 12, MINUTE = 60, HOUR = 3600, MOST_JOBS = 20000, LIVE_MAX = 24 };

struct simulated {
    char id[ID_SIZE];
    int user, cpus;
    int64_t lasts, started, ends; /* seconds */
    bool taken, told;             /* told: its log says that it has started */
};

struct dropping { /* of a user; without a weight, nothing */
    int weight, cpus, lasts, priority;
};

static struct {
    bool queue; /* it is a cluster */
    struct dropping users[USERS];
    struct simulated jobs[MOST_JOBS];
    size_t count, first; /* first: all before it have ended */
    size_t arrived[MOST_JOBS], arrived_count, arrived_first;
    int free, waiting[USERS], starts[USERS];
    double used[USERS]; /* CPU-seconds */
    int64_t time, waits_since[USERS], longest[USERS];
} world;

static void start(struct simulated *job)
{
    int64_t wait = world.time - world.waits_since[job->user];
    job->started = world.time;
    job->ends = world.time + job->lasts;
    world.free -= job->cpus;
    world.starts[job->user]++;
    if (wait > world.longest[job->user])
        world.longest[job->user] = wait;
    world.waits_since[job->user] = world.time;
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

static struct simulated *job_of(const char *id)
{
    return &world.jobs[strtoul(strchr(id, '-') + 1, NULL, 10)];
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
        if (world.queue)
            world.arrived[world.arrived_count++] = (size_t)(job - world.jobs);
        else
            start(job);
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

static struct job_record record_of(const struct simulated *job)
{
    static char digest[SHA256_HEX_SIZE];
    sha256_hex(TEXT(""), digest);
    return (struct job_record){.id = text_of(job->id),
                               .owner = TEXT("somebody"),
                               .uid = 1000 + (uid_t)job->user,
                               .gid = 100,
                               .accepted = now,
                               .attempt = 1,
                               .cpus = job->cpus * 1000,
                               .memory = 1,
                               .priority = world.users[job->user].priority,
                               .manifest_sha256 = text_of(digest),
                               .failure.exit_code = -1};
}

static void drop(int user)
{
    const struct dropping *dropping = &world.users[user];
    assert_true(world.count < MOST_JOBS);
    struct simulated *job = &world.jobs[world.count];
    *job = (struct simulated){.user = user, .cpus = dropping->cpus, .lasts = dropping->lasts};
    snprintf(job->id, sizeof(job->id), "u%d-%013zu", user, world.count++);
    struct job_record record = record_of(job);
    put_job(STATE_RENDERED, &record, "2026-01-01T12:00:00.000Z accepted\n", NULL);
    if (world.waiting[user]++ == 0)
        world.waits_since[user] = world.time;
}

static void drop_jobs(void)
{
    for (int user = 0; user < USERS; user++)
        while (world.users[user].weight && world.waiting[user] < 3)
            drop(user);
}

/* As the track stage does: the account, then the move. */
static void end_job(struct simulated *job)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    struct job_record record = record_of(job);
    struct progress progress = {.attempt = 0};
    const struct usage_times times = {
        .started = now - (world.time - job->started) * 1000, .ended = now, .accepted = now};
    struct usage usage;
    struct buffer line = {0};
    usage_of(&usage, &record, &progress, &times, true);
    usage.written = now;
    usage_format(&usage, &line);
    assert_int_equal(usage_append(&spool, buffer_text(&line), now, &error), 0);
    buffer_free(&line);
    memcpy(place.id, job->id, ID_SIZE);
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    world.free += job->cpus;
}

static void end_jobs(int step)
{
    for (size_t i = world.first; i < world.count; i++) {
        struct simulated *job = &world.jobs[i];
        if (!job->started || job->ends < 0)
            continue;
        world.used[job->user] += job->cpus * step;
        if (job->ends > world.time)
            continue;
        end_job(job);
        job->ends = -1;
    }
    while (world.first < world.count && world.jobs[world.first].ends < 0)
        world.first++;
}

/* The cluster starts what it has, oldest first. */
static void start_jobs(void)
{
    while (world.arrived_first < world.arrived_count) {
        struct simulated *job = &world.jobs[world.arrived[world.arrived_first]];
        if (job->cpus > world.free)
            return;
        start(job);
        world.arrived_first++;
    }
}

/* As the track stage does. */
static void tell_started(void)
{
    for (size_t i = world.first; i < world.count; i++) {
        struct simulated *job = &world.jobs[i];
        struct buffer line = {0};
        if (!job->started || job->told)
            continue;
        eventlog_start(&line, now, "started");
        eventlog_add_number(&line, "attempt", 1);
        eventlog_end(&line);
        append_event(job->id, STATE_SUBMITTED, line.data);
        buffer_free(&line);
        job->told = true;
    }
}

static void pass_time(int64_t seconds, int step)
{
    for (int64_t until = world.time + seconds; world.time < until;) {
        drop_jobs();
        start_jobs();
        run_round_after(step * 1000);
        tell_started();
        world.time += step;
        end_jobs(step);
    }
}

static void forget_used(void)
{
    memset(world.used, 0, sizeof(world.used));
    memset(world.starts, 0, sizeof(world.starts));
}

/* Has each got, within 5 %, the share that the weights give? */
static void shares_are_met(void)
{
    double used = 0, weights = 0;
    for (int user = 0; user < USERS; user++) {
        used += world.used[user];
        weights += world.users[user].weight;
    }
    for (int user = 0; user < USERS; user++) {
        double share = world.used[user] / used, theirs = world.users[user].weight / weights;
        print_message("user %d: %.1f %% of %.1f %%, %d started, longest wait %d s\n", user,
                      100 * share, 100 * theirs, world.starts[user], (int)world.longest[user]);
        assert_true(share >= 0.95 * theirs && share <= 1.05 * theirs);
    }
}

static void begin_world(const char *settings)
{
    open_spool(&submit_stage, world.queue ? &cluster : &machine, 1767268800000);
    fake_executor.live_max = world.queue ? LIVE_MAX : 0;
    write_settings(settings);
    open_stage();
}

static int begin(void **state)
{
    static const struct dropping usual[USERS] = {
        {1, 1, 4 * MINUTE, 0}, {2, 2, 2 * MINUTE, 0}, {4, 1, 6 * MINUTE, 0}};
    (void)state;
    memset(&world, 0, sizeof(world));
    world.free = SLOTS;
    world.time = HOUR;
    memcpy(world.users, usual, sizeof(usual));
    return 0;
}

/* The users of this machine that have the numbers from 1000 on need not exist. */
#define WEIGHTS "shares: {gpu: 1, weights: [{user: \"*\", weight: 1}]}\n"

static void set_weights(void)
{
    struct fair_share *share = &stage->settings.shares;
    static struct share_row rows[USERS];
    for (int user = 0; user < USERS; user++)
        rows[user] = (struct share_row){LIMIT_USER, TEXT("somebody"), 1000 + (id_t)user,
                                        world.users[user].weight};
    share->rows = rows;
    share->row_count = USERS;
}

static void weights_on_a_machine(void **state)
{
    (void)state;
    begin_world("sync: none\n" WEIGHTS);
    set_weights();
    pass_time(HOUR, MINUTE);
    forget_used();
    pass_time(3 * HOUR, MINUTE);
    shares_are_met();
}

static void weights_on_a_cluster(void **state)
{
    (void)state;
    world.queue = true;
    begin_world("sync: none\n" WEIGHTS);
    set_weights();
    pass_time(HOUR, MINUTE);
    forget_used();
    pass_time(3 * HOUR, MINUTE);
    shares_are_met();
}

/* A turn is due to each user every ten minutes, which is more often than there is room for the jobs of some. */
static void weights_of_long_jobs(void **state)
{
    (void)state;
    for (int user = 0; user < USERS; user++)
        world.users[user].lasts = HOUR + user * 10 * MINUTE;
    begin_world("sync: none\n" WEIGHTS);
    set_weights();
    pass_time(18 * HOUR, 10 * MINUTE);
    forget_used();
    pass_time(30 * HOUR, 10 * MINUTE);
    shares_are_met();
}

/* Neither a restart changes it, nor a clock that is wrong for a time. */
static void weights_go_on_after_a_restart(void **state)
{
    (void)state;
    begin_world("sync: none\n" WEIGHTS);
    set_weights();
    pass_time(HOUR, MINUTE);
    forget_used();
    for (int i = 0; i < 6; i++) {
        pass_time(HOUR / 2, MINUTE);
        close_stage();
        now += i == 2 ? -(int64_t)36 * HOUR * 1000 : i == 3 ? (int64_t)36 * HOUR * 1000 : 0;
        open_stage();
        set_weights();
    }
    shares_are_met();
}

/* Who always asks for the highest priority has the share that the weights give, and not more. */
static void weights_below_the_highest_priority(void **state)
{
    (void)state;
    world.users[2].priority = 50;
    begin_world("sync: none\nlimits: {priority: {users: [-100, 50]}}\n" WEIGHTS);
    set_weights();
    pass_time(HOUR, MINUTE);
    forget_used();
    pass_time(2 * HOUR, MINUTE);
    /* They have jobs of the highest priority three at a time: until those are started, others get little. */
    assert_true(world.starts[0] >= 10 && world.starts[1] >= 10);
}

/* Somebody who comes later, and has used nothing, goes behind those who have waited for ten minutes, with the first job
 * only; and has the own share from then on. */
static void a_new_user_goes_behind_who_has_waited(void **state)
{
    (void)state;
    for (int user = 0; user < USERS; user++)
        world.users[user] = (struct dropping){user < 3, SLOTS, HOUR, 0};
    begin_world("sync: none\n" WEIGHTS);
    set_weights();
    pass_time(3 * HOUR + 30 * MINUTE, 2 * MINUTE); /* each job takes all there is */
    forget_used();
    world.users[3].weight = 1;
    set_weights();
    pass_time(HOUR, MINUTE);
    assert_int_equal(world.starts[3], 0);
    assert_int_equal(world.starts[0] + world.starts[1] + world.starts[2], 1);
    pass_time(HOUR, MINUTE);
    assert_int_equal(world.starts[3], 1);
}

/* Who is submitted is charged at once: jobs that are sent together go by weight, too. */
static void one_batch_goes_by_weight(void **state)
{
    static const struct dropping both[USERS] = {{1, 1, HOUR, 0}, {4, 1, HOUR, 0}};
    int of_the_first_four[USERS] = {0};
    (void)state;
    world.queue = true;
    memcpy(world.users, both, sizeof(both));
    begin_world("sync: none\n" WEIGHTS);
    set_weights();
    drop_jobs();
    run_round_after(1000);
    assert_int_equal(world.arrived_count, 6);
    for (size_t i = 0; i < 4; i++)
        of_the_first_four[world.jobs[world.arrived[i]].user]++;
    assert_int_equal(of_the_first_four[0], 1);
    assert_int_equal(of_the_first_four[1], 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(weights_on_a_machine),
        TEST(weights_on_a_cluster),
        TEST(weights_of_long_jobs),
        TEST(weights_go_on_after_a_restart),
        TEST(weights_below_the_highest_priority),
        TEST(a_new_user_goes_behind_who_has_waited),
        TEST(one_batch_goes_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
