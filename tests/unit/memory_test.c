/* tests/unit/memory_test.c - how many bytes a job takes in memory while it waits
 *
 * Counted are the bytes that malloc() has given and that are not freed, of many jobs, so it runs without the
 * sanitizers (PLAIN_TESTS of the Makefile).
 */
#include "tests/unit/unit.h"

#include <malloc.h>

#include "stages/submit/queue.h"

enum { MANY = 20000 };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queued_job_takes_few_bytes),
        cmocka_unit_test(what_was_asked_for_is_forgotten),
    };
#ifdef __SANITIZE_ADDRESS__
    (void)tests;
    return 0;
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
