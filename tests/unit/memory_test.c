/* tests/unit/memory_test.c - how many bytes a job takes in memory while it waits
 *
 * Counted are the bytes that malloc() has given and that are not freed, of many jobs, so it runs without the
 * sanitizers (PLAIN_TESTS of the Makefile).
 */
#include "tests/unit/stage_fixture.h"

#include <malloc.h>

#include "stages/submit/queue.h"

enum { MANY = 20000, FEW_LIVE = 500, MANY_LIVE = 2500 };

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Of each of them, since `before` were in use. */
static size_t bytes_each(size_t before)
{
    return (bytes_in_use() - before) / MANY;
}

/* There may be a hundred thousand of them, most of which ask for the same. */
static void a_queued_job_takes_few_bytes(void **state)
{
    (void)state;
    const size_t before = bytes_in_use();
    struct queue *queue = queue_new();
    struct queue_job job = {.demand = {.cpus = 1000, .gpu_type = "a100"}};
    for (int i = 0; i < MANY; i++) {
        snprintf(job.id, sizeof(job.id), "w%d-%013d", i, i);
        job.owner = (uid_t)(i % 10);
        queue_add(queue, &job);
    }
    assert_int_equal(queue_count(queue), MANY);
    assert_in_range(bytes_each(before), 100, 144);
    while (queue_take(queue, &job))
        assert_string_equal(job.demand.gpu_type, "a100");
    queue_free(queue);
    assert_int_equal(bytes_each(before), 0);
}

/* What nobody asks for any more is forgotten. */
static void what_was_asked_for_is_forgotten(void **state)
{
    (void)state;
    struct queue *queue = queue_new();
    struct queue_job job = {.id = "j-0000000000001"}, taken;
    size_t before = 0;
    for (int i = 0; i < MANY; i++) {
        job.demand.memory = i;
        queue_add(queue, &job);
        assert_true(queue_take(queue, &taken));
        assert_int_equal(taken.demand.memory, i);
        before = i ? before : bytes_in_use();
    }
    assert_int_equal(bytes_each(before), 0);
    queue_free(queue);
}

/* ---- track ---- */

static struct {
    bool was_asked;
    size_t asked, after; /* bytes in use when the executor was asked first, and after the round */
} seen;

static int let_wait(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                    size_t count, struct error *problem)
{
    (void)executor;
    (void)arena;
    (void)problem;
    if (!seen.was_asked)
        seen.asked = bytes_in_use();
    seen.was_asked = true;
    for (size_t i = 0; i < count; i++) {
        jobs[i]->phase = PHASE_WAITING;
        snprintf(jobs[i]->detail, sizeof(jobs[i]->detail), "not enough GPUs");
    }
    return 0;
}

static void print_nothing(struct executor *executor, struct job_call **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++)
        batch[i]->result = 0;
}

static void close_nothing(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {
    .name = "fake", .poll = let_wait, .output = print_nothing, .close = close_nothing};

static void put_live(int from, int to)
{
    char id[ID_SIZE];
    for (int i = from; i < to; i++) {
        snprintf(id, sizeof(id), "w%d-%013d", i, i);
        const struct job_record record = {.id = text_of(id),
                                          .owner = TEXT("ann"),
                                          .uid = 1000,
                                          .gid = (gid_t)-1,
                                          .accepted = now,
                                          .attempt = 1,
                                          .failure.exit_code = -1};
        put_job(STATE_SUBMITTED, &record, "2026-01-01T12:00:00.000Z submitted attempt=1\n", NULL);
    }
}

/* The first round of a stage that finds the jobs of submitted/. */
static void look_at_live(void)
{
    seen.was_asked = false;
    open_stage();
    run_round_after(1000);
    seen.after = bytes_in_use();
    close_stage();
}

/* Jobs of which nothing is learned yet are names; and thousands may be live. */
static void a_live_job_takes_few_bytes(void **state)
{
    (void)state;
    open_spool(&track_stage, &operations, 1767268801000); /* 2026-01-01T12:00:01 */
    open_templates();
    write_settings("executor: local\nsync: none\n");
    put_live(0, FEW_LIVE);
    look_at_live();
    const size_t asked = seen.asked, after = seen.after;
    put_live(FEW_LIVE, MANY_LIVE);
    look_at_live();
    assert_in_range((seen.asked - asked) / (MANY_LIVE - FEW_LIVE), 60, 140);
    assert_in_range((seen.after - after) / (MANY_LIVE - FEW_LIVE), 300, 720);
    close_spool(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queued_job_takes_few_bytes),
        cmocka_unit_test(what_was_asked_for_is_forgotten),
        cmocka_unit_test(a_live_job_takes_few_bytes),
    };
#ifdef __SANITIZE_ADDRESS__
    (void)tests;
    puts("1..0 # SKIP the sanitizers have a malloc() of their own, of which nothing is counted");
    return 0;
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
