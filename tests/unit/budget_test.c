/* budget_test.c - stages/planning/budget.c: a day of the pool, less what an owner's deadlines have held */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "stages/planning/budget.h"

static const int64_t now = 1790000000000, hour = 3600 * 1000;
static struct cached_job jobs[3];
static struct cached_job *list[3];
static struct pool pool;
static struct progress progress;

static int set_up(void **state)
{
    (void)state;
    static const char *const owners[] = {"bob", "ann", "ann"};
    memset(jobs, 0, sizeof(jobs));
    for (int i = 0; i < 3; i++) {
        jobs[i].record.owner = text_of(owners[i]);
        jobs[i].record.deadline = now + hour;
        jobs[i].record.cpus = 1000;
        jobs[i].record.attempt = 2;
        jobs[i].state = STATE_RENDERED;
        list[i] = &jobs[i];
    }
    pool = (struct pool){.jobs = list, .count = 3};
    return 0;
}

static struct past_run make_run(const char *owner, int64_t ended, double seconds)
{
    return (struct past_run){.ended = ended,
                             .owner = text_of(owner),
                             .cpus = 2000,
                             .seconds = seconds,
                             .deadline = true};
}

static double left_of(int job, struct past_run *runs, size_t count)
{
    struct budget budget;
    struct history history = {runs, count};
    budget_make(&budget, &pool, &history, 4000, 25, now);
    assert_int_equal(budget.count, 2);
    double left = budget.tokens[jobs[job].plan.owner];
    budget_free(&budget);
    return left;
}

static const double whole = 0.25 * 4000 * 86400;

static void who_has_used_nothing_has_it_all(void **state)
{
    (void)state;
    assert_true(left_of(0, NULL, 0) == whole);
    assert_true(left_of(1, NULL, 0) == whole);
    assert_int_equal(jobs[1].plan.owner, jobs[2].plan.owner);
    assert_int_not_equal(jobs[0].plan.owner, jobs[1].plan.owner);
}

static void what_his_deadlines_held_in_a_day_is_taken_off(void **state)
{
    (void)state;
    struct past_run runs[] = {
        make_run("ann", now - hour, 1000),      make_run("bob", now - hour, 500),
        make_run("ann", now - 25 * hour, 7000), /* before yesterday */
        make_run("ann", now - 23 * hour, 7200), /* an hour of it counts */
        make_run("eve", now - hour, 1000),      make_run("ann", now - hour, 300)};
    runs[5].deadline = false;
    assert_true(left_of(1, runs, 6) == whole - 2000.0 * (1000 + 3600));
    assert_true(left_of(0, runs, 6) == whole - 2000.0 * 500);
    runs[0].gpus = 1; /* of another pool */
    assert_true(left_of(1, runs, 6) == whole - 2000.0 * 3600);
}

static void what_runs_is_taken_off(void **state)
{
    (void)state;
    progress = (struct progress){.attempt = 2, .size_count = 2};
    progress.sizes[0] = (struct progress_at_size){.attempt = 1, .size = 1, .running = 50000};
    progress.sizes[1] = (struct progress_at_size){.attempt = 2, .size = 1, .running = 60000};
    jobs[2].state = STATE_SUBMITTED;
    jobs[2].progress = &progress;
    assert_true(left_of(1, NULL, 0) == whole - 1000.0 * 60);
}

static void nobody_has_less_than_nothing(void **state)
{
    (void)state;
    struct past_run run = make_run("ann", now - hour, 1e6);
    run.cpus = 500;
    assert_true(left_of(1, &run, 1) == whole - 500.0 * (86400 - 3600));
    run.cpus = 64000;
    assert_true(left_of(1, &run, 1) == 0);
}

static void without_a_bound_tokens_do_not_end(void **state)
{
    (void)state;
    struct budget budget;
    struct history history = {NULL, 0};
    budget_make(&budget, &pool, &history, 4000, 0, now);
    assert_true(budget.count > 0 && isinf(budget.tokens[0]) && budget.tokens[0] > 0);
    budget_free(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(who_has_used_nothing_has_it_all, set_up),
        cmocka_unit_test_setup(what_his_deadlines_held_in_a_day_is_taken_off, set_up),
        cmocka_unit_test_setup(what_runs_is_taken_off, set_up),
        cmocka_unit_test_setup(nobody_has_less_than_nothing, set_up),
        cmocka_unit_test_setup(without_a_bound_tokens_do_not_end, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
