/* share_test.c - planner/share.c: small cases that are known, and many that only have to hold */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "planner/share.h"
#include "simulation/random.h"

static const struct plan_level curve[] = {{1, 1}, {2, 1.8}, {4, 3}, {8, 4}};

static struct plan_job make_job(double work)
{
    return (struct plan_job){.id = "a",
                             .weight = 1,
                             .work = work,
                             .levels = curve,
                             .level_count = 4,
                             .deadline = (double)INFINITY};
}

static void the_smallest_that_suffices(void **state)
{
    (void)state;
    struct timeline timeline = {0};
    struct share share = {0};
    struct plan_job job = make_job(100);
    timeline_reset(&timeline, 1000, 8);
    assert_true(share_take(&share, &timeline, &job, 1100));
    assert_int_equal(share.size, 1);
    assert_true(share.finish == 1100 && share.cost == 100 && share.change == 1100);
    assert_int_equal(timeline.segments[0].free, 7);
    share_release(&share, &timeline);
    assert_int_equal(timeline.count, 1);

    assert_true(share_take(&share, &timeline, &job, 1099));
    assert_int_equal(share.size, 2);
    share_release(&share, &timeline);
    assert_true(share_take(&share, &timeline, &job, 1025));
    assert_int_equal(share.size, 8);
    share_release(&share, &timeline);
    assert_false(share_take(&share, &timeline, &job, 1024));
    assert_int_equal(timeline.count, 1);
    assert_int_equal(timeline.segments[0].free, 8);

    job.restart = 10;
    assert_true(share_take(&share, &timeline, &job, 1110));
    assert_int_equal(share.size, 1);
    assert_true(share.finish == 1110);
    share_release(&share, &timeline);
    assert_true(share_take(&share, &timeline, &job, 1109));
    assert_int_equal(share.size, 2);
    share_release(&share, &timeline);

    job.size = 1; /* goes on: no restart, but for what is left of one */
    job.restart_left = 4;
    assert_true(share_take(&share, &timeline, &job, 1104));
    assert_int_equal(share.size, 1);
    assert_true(share.finish == 1104);
    share_free(&share);
    timeline_free(&timeline);
}

static void waits_and_grows_as_capacity_comes(void **state)
{
    (void)state;
    struct timeline timeline = {0};
    struct share share = {0};
    struct plan_job job = make_job(100);
    timeline_reset(&timeline, 0, 4);
    timeline_take(&timeline, 0, 50, 4);
    assert_true(share_take(&share, &timeline, &job, 150));
    assert_int_equal(share.size, 0);
    assert_true(share.change == 50 && share.finish == 150);
    share_release(&share, &timeline);

    timeline_reset(&timeline, 0, 4);
    timeline_take(&timeline, 0, 50, 3);
    assert_true(share_take(&share, &timeline, &job, 70));
    assert_int_equal(share.size, 1); /* 50 units at 1, the rest at 3 */
    assert_int_equal(share.count, 2);
    assert_int_equal(share.pieces[1].size, 4);
    assert_true(fabs(share.finish - (50 + 50.0 / 3)) < 1e-9);
    assert_true(share.change == 50);
    share_release(&share, &timeline);

    /* A change that its restart eats up is not made. */
    job.size = 1;
    job.restart = 60;
    assert_true(share_take(&share, &timeline, &job, 100));
    assert_int_equal(share.count, 1);
    share_release(&share, &timeline);
    job.restart = 10; /* not for a moment, but in time */
    timeline_reset(&timeline, 0, 4);
    timeline_take(&timeline, 0, 50, 3);
    timeline_take(&timeline, 30, 40, -1);
    assert_true(share_take(&share, &timeline, &job, 85));
    assert_int_equal(share.count, 2);
    assert_int_equal(share.pieces[1].size, 4);
    assert_true(share.pieces[1].from == 50 && fabs(share.finish - (60 + 50.0 / 3)) < 1e-9);
    share_free(&share);
    timeline_free(&timeline);
}

/* Whether the pieces, run through, do the work by `latest`. */
static bool does_the_work(const struct share *share, const struct plan_job *job, double latest)
{
    double left = job->work, dead = job->size > 0 ? job->restart_left : job->restart;
    int size = job->size;
    for (size_t i = 0; i < share->count; i++) {
        const struct share_piece *piece = &share->pieces[i];
        const struct plan_level *level = plan_level_at_most(job, piece->size);
        double length = piece->to - piece->from;
        if (!level || level->size != piece->size || piece->to > latest + 1e-6)
            return false;
        if (piece->size != size || (i > 0 && piece->from > share->pieces[i - 1].to))
            dead = job->restart;
        size = piece->size;
        double useful = length > dead ? length - dead : 0;
        dead -= length - useful;
        left -= useful * level->rate;
    }
    return left < 1e-6 * (1 + job->work);
}

static void never_more_than_is_free_and_in_time(void **state)
{
    (void)state;
    struct random random = {3};
    size_t found = 0;
    for (int turn = 0; turn < 4000; turn++) {
        struct timeline timeline = {0}, before = {0};
        struct share share = {0};
        struct plan_job job = make_job(1 + 900 * random_uniform(&random));
        double latest = 1 + 700 * random_uniform(&random);
        job.level_count = 1 + (size_t)(random_uniform(&random) * 4);
        job.restart = random_uniform(&random) < 0.5 ? 0 : 20;
        job.size = random_uniform(&random) < 0.3 ? 1 : 0;
        job.restart_left = job.size > 0 ? 5 : 0;
        timeline_reset(&timeline, 0, 12);
        for (int i = 0; i < 8; i++) {
            double from = 600 * random_uniform(&random);
            timeline_take(&timeline, from, from + 200 * random_uniform(&random),
                          (int)(random_uniform(&random) * 3));
        }
        bool enough = timeline.segments[0].free >= 0;
        for (size_t i = 0; i < timeline.count; i++)
            enough = enough && timeline.segments[i].free >= 0;
        timeline_copy(&before, &timeline);
        if (enough && share_take(&share, &timeline, &job, latest)) {
            found++;
            for (size_t i = 0; i < timeline.count; i++)
                assert_true(timeline.segments[i].free >= 0);
            assert_true(does_the_work(&share, &job, latest));
            assert_true(share.finish <= latest + 1e-6);
            share_release(&share, &timeline);
        }
        assert_int_equal(timeline.count, before.count);
        for (size_t i = 0; i < timeline.count; i++)
            assert_true(timeline.segments[i].start == before.segments[i].start &&
                        timeline.segments[i].free == before.segments[i].free);
        share_free(&share);
        timeline_free(&before);
        timeline_free(&timeline);
    }
    assert_true(found > 500 && found < 3900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_that_suffices),
        cmocka_unit_test(waits_and_grows_as_capacity_comes),
        cmocka_unit_test(never_more_than_is_free_and_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
