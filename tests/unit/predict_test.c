/* predict_test.c - planner/predict.c: what is believed of a job, from itself and from others */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "planner/predict.h"
#include "planner/quantile.h"
#include "simulation/random.h"

enum { MOST_RUNS = 400 };

static struct predict_run runs[MOST_RUNS];
static size_t run_count;

static const struct predict_key usual = {.template_path = {"t", 1},
                                         .commit = {"c1", 2},
                                         .image = {"i", 1},
                                         .arguments = {"a", 1},
                                         .owner = {"ann", 3}};

static int begin(void **state)
{
    (void)state;
    run_count = 0;
    return 0;
}

/* A finished job that was counted, all of it at one size. */
static struct predict_run *add_run(int size, double total, double rate)
{
    struct predict_run *run = &runs[run_count++];
    *run = (struct predict_run){.key = usual,
                                .size = size,
                                .finished = true,
                                .total = total,
                                .rate = rate,
                                .seconds = rate > 0 ? total / rate : 0,
                                .start_up = -1,
                                .restart = -1,
                                .resize = -1,
                                .tail = -1,
                                .use = -1};
    return run;
}

static struct predict_job make_job(double total)
{
    return (struct predict_job){.key = usual,
                                .sizes = {1000, 2000, 4000, 8000, 16000},
                                .size_count = 5,
                                .wanted = 1000,
                                .counted = true,
                                .total = total,
                                .start_up = -1,
                                .restart = -1};
}

static struct prediction ask(const struct predict_job *job)
{
    struct predict_past *past = predict_past_new(runs, run_count);
    struct prediction prediction, again;
    predict(past, job, &prediction);
    predict(past, job, &again);
    assert_memory_equal(&prediction.left, &again.left, sizeof(double));
    predict_past_free(past);
    assert_true(prediction.level_count > 0 && prediction.left > 0);
    assert_true(prediction.left_late >= prediction.left);
    for (size_t i = 0; i < prediction.level_count; i++)
        assert_true(isfinite(prediction.levels[i].rate) && prediction.levels[i].rate > 0 &&
                    (i == 0 || (prediction.levels[i].rate > prediction.levels[i - 1].rate &&
                                prediction.levels[i].size > prediction.levels[i - 1].size)));
    return prediction;
}

static double rate_of(const struct prediction *prediction, int size)
{
    for (size_t i = 0; i < prediction->level_count; i++)
        if (prediction->levels[i].size == size)
            return prediction->levels[i].rate;
    return 0;
}

#define assert_near(a, b) assert_near_(a, b, 1e-6)
#define assert_near_(a, b, error)                                                                  \
    do {                                                                                           \
        if (!(fabs((a) - (b)) <= (error)*fabs(b)))                                                 \
            fail_msg(#a " is %g, expected %g", (double)(a), (double)(b));                          \
    } while (0)

static void a_guess_is_long(void **state)
{
    (void)state;
    struct predict_job job = make_job(400);
    struct prediction prediction = ask(&job);
    assert_false(prediction.known);
    assert_true(predict_seconds_left(&prediction, 1000, false) > 3600);
    assert_true(predict_seconds_left(&prediction, 1000, true) >
                1.5 * predict_seconds_left(&prediction, 1000, false));
    assert_near(rate_of(&prediction, 4000), 2 * rate_of(&prediction, 1000));
    assert_near(prediction.start_up, 60.0);
    job.limit = 600;
    prediction = ask(&job);
    assert_near(predict_seconds_left(&prediction, 1000, false), 600.0);
    job.counted = false;
    job.size = 1000;
    job.elapsed = 500;
    prediction = ask(&job);
    assert_false(prediction.known);
    assert_near(predict_seconds_left(&prediction, 1000, true), 100.0);
    job.limit = 0;
    job.elapsed = 1e6;
    prediction = ask(&job);
    assert_near(predict_seconds_left(&prediction, 1000, false), 1e6);
}

static void jobs_of_the_same_arguments(void **state)
{
    (void)state;
    struct predict_job job = make_job(800);
    for (int i = 0; i < 3; i++)
        add_run(1000, 400, 2);
    struct prediction prediction = ask(&job);
    assert_true(prediction.known && !prediction.live);
    assert_int_equal(prediction.similarity, SIMILAR_ARGUMENTS);
    assert_int_equal(prediction.runs, 3);
    assert_near(predict_seconds_left(&prediction, 1000, false), 400.0);
    job.total = 0; /* then as many as the others had */
    prediction = ask(&job);
    assert_near(prediction.left, 400.0);
}

static void the_finest_similarity_with_enough(void **state)
{
    (void)state;
    struct {
        struct text *text;
        const char *other;
        enum similarity expected;
    } steps[] = {{NULL, "", SIMILAR_ARGUMENTS},
                 {&runs[0].key.commit, "c2", SIMILAR_OLDER_TEMPLATE},
                 {&runs[0].key.arguments, "b", SIMILAR_IMAGE},
                 {&runs[0].key.image, "j", SIMILAR_USER_TEMPLATE},
                 {&runs[0].key.owner, "bob", SIMILAR_TEMPLATE},
                 {&runs[0].key.template_path, "u", SIMILAR_ANY}};
    for (int i = 0; i < 3; i++)
        add_run(1000, 400, 2);
    for (size_t step = 0; step < ARRAY_COUNT(steps); step++) {
        if (steps[step].text)
            *steps[step].text = text_of(steps[step].other);
        for (int i = 1; i < 3; i++)
            runs[i].key = runs[0].key;
        struct predict_job job = make_job(400);
        struct prediction prediction = ask(&job);
        assert_true(prediction.known);
        assert_int_equal(prediction.similarity, steps[step].expected);
    }
    runs[0].key.owner = runs[1].key.owner = runs[2].key.owner = usual.owner;
    struct predict_job job = make_job(400);
    assert_int_equal(ask(&job).similarity, SIMILAR_USER);
    /* Two are not enough; of the same arguments one is, for how long a unit takes. */
    run_count = 2;
    assert_false(ask(&job).known);
    add_run(1000, 0, 2)->finished = false;
    assert_true(ask(&job).known);
    assert_int_equal(ask(&job).similarity, SIMILAR_ARGUMENTS);
    job.key.gpu_type = TEXT("V100");
    assert_false(ask(&job).known);
}

/* What other jobs of the user gain by size is not what this one does; and if it is how long they take
 * that they have in common, that is taken. */
static void jobs_of_other_arguments(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        add_run(1000, 100 * (1 + i), 1)->key.arguments = TEXT("slow");
        add_run(4000, 9000 / (1 + i), 100)->key.arguments = TEXT("fast");
    }
    struct predict_job job = make_job(400);
    struct prediction prediction = ask(&job);
    assert_int_equal(prediction.similarity, SIMILAR_IMAGE);
    assert_near(rate_of(&prediction, 4000), 2 * rate_of(&prediction, 1000));
    run_count = 0;
    for (int i = 0; i < 4; i++)
        add_run(1000, 100 * pow(10, i), pow(10, i))->key.arguments = TEXT("other");
    prediction = ask(&job);
    assert_near(predict_seconds_left(&prediction, 1000, false), 100.0);
}

/* Of many keys, more than a table has places, each has its own. */
static void keys_are_told_apart(void **state)
{
    (void)state;
    static char names[100][8];
    for (int i = 0; i < 300; i++) {
        snprintf(names[i % 100], sizeof(names[0]), "a%d", i % 100);
        add_run(1000, 400, 1 + i % 100)->key.arguments = text_of(names[i % 100]);
    }
    for (int i = 0; i < 100; i++) {
        struct predict_job job = make_job(400);
        job.key.arguments = text_of(names[i]);
        struct prediction prediction = ask(&job);
        assert_near(rate_of(&prediction, 1000), 1.0 + i);
        assert_int_equal(prediction.runs, 3);
    }
}

static void newer_runs_weigh_more(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++)
        add_run(1000, 400, 1);
    for (int i = 0; i < 25; i++)
        add_run(1000, 400, 4);
    struct predict_job job = make_job(400);
    struct prediction prediction = ask(&job);
    assert_near(rate_of(&prediction, 1000), 4.0);
}

static void what_it_shows_itself_wins(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        add_run(1000, 400, 1);
    struct predict_job job = make_job(400);
    job.size = 1000;
    job.rate = 4;
    job.samples = 50;
    job.done = 10; /* half of what it takes to be believed */
    struct prediction prediction = ask(&job);
    assert_true(prediction.live);
    assert_near(rate_of(&prediction, 1000), 2.0);
    job.done = 20;
    prediction = ask(&job);
    assert_near(rate_of(&prediction, 1000), 4.0);
    assert_near(prediction.left, 380.0);
    job.spread = 0.2;
    assert_true(ask(&job).left_late > prediction.left_late);
}

static double amdahl(int size)
{
    return 1 / (0.2 + 800.0 / size);
}

static void curves_are_learned_and_bounded(void **state)
{
    (void)state;
    for (int size = 1000; size <= 4000; size *= 2)
        add_run(size, 400, amdahl(size));
    struct predict_job job = make_job(400);
    struct prediction prediction = ask(&job);
    for (int size = 1000; size <= 8000; size *= 2)
        assert_near(rate_of(&prediction, size), amdahl(size));
    /* Two doublings beyond what was seen: by the guess, or by the curve if that is worse. */
    assert_near(rate_of(&prediction, 16000), fmin(amdahl(16000), amdahl(8000) * sqrt(2)));
    for (int i = 0; i < 3; i++)
        runs[i].rate = runs[i].size / 1000.0;
    prediction = ask(&job);
    assert_near(rate_of(&prediction, 8000), 8.0);
    assert_near(rate_of(&prediction, 16000), 8 * sqrt(2));
    /* Between sizes that were seen, on the curve. */
    job.sizes[1] = 3000;
    for (int i = 0; i < 3; i++)
        runs[i].rate = amdahl(runs[i].size);
    prediction = ask(&job);
    assert_near(rate_of(&prediction, 3000), amdahl(3000));
    /* Its own speed moves it all. */
    job.size = 4000;
    job.rate = amdahl(4000) / 2;
    job.done = 200;
    prediction = ask(&job);
    assert_near(rate_of(&prediction, 1000), amdahl(1000) / 2);
    assert_near(rate_of(&prediction, 8000), amdahl(8000) / 2);
    /* Larger is no faster: there is no such level. */
    run_count = 0;
    job = make_job(400);
    for (int size = 1000; size <= 4000; size *= 2)
        add_run(size, 400, 1);
    assert_int_equal(ask(&job).level_count, 1);
}

/* Processors that it leaves idle are no use to it, and giving them up costs it nothing. */
static void idle_processors(void **state)
{
    (void)state;
    struct predict_job job = make_job(400);
    job.size = 4000;
    job.rate = 2;
    job.done = 100;
    job.part_count = 1;
    job.parts[0] = (struct predict_part){4000, 100, 2, 0.25};
    struct prediction prediction = ask(&job);
    assert_int_equal(prediction.level_count, 1);
    assert_near(rate_of(&prediction, 1000), 2.0);
    job.parts[0].use = 1;
    prediction = ask(&job);
    assert_near(rate_of(&prediction, 1000), 0.5);
    assert_near(rate_of(&prediction, 16000), 4.0);
    job.gpus = true; /* of GPUs nothing is known by that */
    job.parts[0].use = 0.25;
    prediction = ask(&job);
    assert_near(rate_of(&prediction, 16000), 4.0);
    assert_near(rate_of(&prediction, 1000), 0.5);
}

static void jobs_that_are_not_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        add_run(1000, 0, 0)->seconds = 100;
        add_run(2000, 0, 0)->seconds = 60;
    }
    struct predict_job job = make_job(0);
    job.counted = false;
    struct prediction prediction = ask(&job);
    assert_true(prediction.known);
    assert_near(rate_of(&prediction, 1000), 1.0);
    assert_near(predict_seconds_left(&prediction, 1000, false), 100.0);
    assert_near(predict_seconds_left(&prediction, 2000, false), 60.0);
    assert_near(prediction.start_up + 1, 1.0);
    job.size = 2000;
    job.part_count = 2;
    job.parts[0] = (struct predict_part){1000, 50, 0, -1};
    job.parts[1] = (struct predict_part){2000, 15, 0, -1};
    job.elapsed = 65;
    prediction = ask(&job);
    assert_near(prediction.left, 25.0);
    /* It should be done, and is not. */
    job.parts[0].seconds = 400;
    prediction = ask(&job);
    assert_near(prediction.left, 0.05 * 425);
}

static void costs_are_learned(void **state)
{
    (void)state;
    struct predict_job job = make_job(400);
    struct prediction prediction = ask(&job);
    assert_near(prediction.start_up, 60.0);
    assert_near(prediction.restart, 60.0);
    assert_near(prediction.resize + 1, 1.0);
    job.interval = 600;
    assert_near(ask(&job).restart, 360.0);
    static const double start_ups[] = {10, 900, 20};
    for (int i = 0; i < 3; i++) {
        struct predict_run *run = add_run(1000, 400, 1);
        run->start_up = start_ups[i];
        run->restart = 30;
        run->resize = 2;
        run->tail = 8;
    }
    prediction = ask(&job);
    assert_near(prediction.start_up, 20.0);
    assert_near(prediction.restart, 30.0);
    assert_near(prediction.resize, 2.0);
    assert_near(prediction.left, 408.0);
    job.size = 1000; /* overdue */
    job.elapsed = 1000;
    assert_near(ask(&job).start_up, 1050.0);
    job.start_up = 3;
    assert_near(ask(&job).start_up, 3.0);
}

/* What a stranger's job costs, or how long it goes on after its last unit, is nothing to others. */
static void costs_of_strangers_are_theirs(void **state)
{
    (void)state;
    struct predict_job job = make_job(400);
    job.rate = 1;
    job.samples = 50;
    job.size = 1000;
    job.done = 200;
    job.elapsed = 200;
    const struct prediction before = ask(&job);
    for (int i = 0; i < 5; i++) {
        struct predict_run *run = add_run(1000, 400, 1);
        run->key.owner = TEXT("stranger");
        run->key.arguments = TEXT("others");
        run->start_up = run->restart = run->resize = run->tail = 36000;
        if (i > 1)
            run->key.template_path = TEXT("local/any/others.yaml");
    }
    const struct prediction after = ask(&job);
    assert_near(after.left, before.left);
    assert_near(after.start_up, before.start_up);
    assert_near(after.restart, before.restart);
    assert_near(after.resize + 1, before.resize + 1);
    /* By the template they do count, but for the tail. */
    add_run(1000, 400, 1)->key.owner = TEXT("stranger");
    struct predict_run *third = add_run(1000, 400, 1);
    third->key.owner = TEXT("stranger");
    third->key.arguments = TEXT("others");
    third->start_up = third->tail = 36000;
    assert_near(ask(&job).start_up, 36000.0);
    assert_near(ask(&job).left, before.left);
}

/* Jobs whose lengths are log-normal, one after another: the median is right in the middle, and four
 * of five end before the quantile 0.8. */
static void quantiles_are_calibrated(void **state)
{
    (void)state;
    struct random random = {11};
    const double sigma = 0.3;
    double above = 0, covered = 0, errors = 0;
    const int first = 20, all = 300;
    for (int i = 0; i < all; i++) {
        double seconds = 1000 * exp(sigma * random_normal(&random));
        struct predict_job job = make_job(0);
        job.counted = false;
        struct prediction prediction = ask(&job);
        if (i >= first) {
            above += seconds > predict_seconds_left(&prediction, 1000, false);
            covered += seconds <= predict_seconds_left(&prediction, 1000, true);
            errors += fabs(predict_seconds_left(&prediction, 1000, false) / seconds - 1);
        }
        add_run(1000, 0, 0)->seconds = seconds;
    }
    double count = all - first;
    assert_true(above / count > 0.4 && above / count < 0.6);
    assert_true(covered / count > 0.72 && covered / count < 0.88);
    assert_true(errors / count < 0.3);
}

static double any(struct random *random, double least, double most)
{
    if (random_uniform(random) < 0.2)
        return 0;
    return least * pow(most / least, random_uniform(random));
}

/* Whatever was measured, it is a prediction: ask() looks at it. */
static void anything_can_be_measured(void **state)
{
    (void)state;
    struct random random = {7};
    for (int turn = 0; turn < 300; turn++) {
        run_count = 0;
        for (int i = 0; i < 12; i++) {
            struct predict_run *run = add_run(1 + (int)any(&random, 1, 1e9), 0, 0);
            run->total = any(&random, 1e-6, 1e15);
            run->rate = any(&random, 1e-12, 1e12);
            run->seconds = any(&random, 1e-3, 1e9);
            run->start_up = any(&random, 1, 1e9) - 2;
            run->tail = any(&random, 1, 1e9) - 2;
            run->use = any(&random, 1e-3, 1) - 0.1;
            run->finished = random_uniform(&random) < 0.7;
        }
        struct predict_job job = make_job(any(&random, 1e-6, 1e15));
        for (int i = 0; i < 5; i++)
            job.sizes[i] = (i ? job.sizes[i - 1] : 0) + 1 + (int)any(&random, 1, 1e8);
        job.wanted = 1 + (int)any(&random, 1, 1e9);
        job.counted = random_uniform(&random) < 0.6;
        job.done = any(&random, 1e-3, 1e15);
        job.size = random_uniform(&random) < 0.5 ? 0 : job.wanted;
        job.rate = job.size ? any(&random, 1e-9, 1e12) : 0;
        job.elapsed = any(&random, 1, 1e9);
        job.limit = any(&random, 1, 1e9);
        job.spread = any(&random, 1e-3, 10);
        job.part_count = 1;
        job.parts[0] = (struct predict_part){1 + (int)any(&random, 1, 1e9), any(&random, 1, 1e9),
                                             any(&random, 1e-9, 1e12), -1};
        struct prediction prediction = ask(&job);
        assert_true(isfinite(prediction.left) && isfinite(prediction.left_late));
        assert_true(isfinite(prediction.start_up + prediction.restart + prediction.resize));
    }
}

static void medians_with_weights(void **state)
{
    (void)state;
    struct sample samples[] = {{5, 1}, {1, 1}, {3, 1}};
    assert_true(quantile_median(samples, 3) == 3);
    assert_near(quantile_spread(samples, 3, 3), 1.4826 * 2);
    struct sample even[] = {{4, 1}, {2, 1}};
    assert_true(quantile_median(even, 2) == 3);
    struct sample heavy[] = {{1, 1}, {2, 5}, {9, 1}, {8, 1}};
    assert_true(quantile_median(heavy, 4) == 2);
    assert_true(quantile_median(NULL, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_guess_is_long, begin),
        cmocka_unit_test_setup(jobs_of_the_same_arguments, begin),
        cmocka_unit_test_setup(the_finest_similarity_with_enough, begin),
        cmocka_unit_test_setup(jobs_of_other_arguments, begin),
        cmocka_unit_test_setup(keys_are_told_apart, begin),
        cmocka_unit_test_setup(newer_runs_weigh_more, begin),
        cmocka_unit_test_setup(what_it_shows_itself_wins, begin),
        cmocka_unit_test_setup(curves_are_learned_and_bounded, begin),
        cmocka_unit_test_setup(idle_processors, begin),
        cmocka_unit_test_setup(jobs_that_are_not_counted, begin),
        cmocka_unit_test_setup(costs_of_strangers_are_theirs, begin),
        cmocka_unit_test_setup(costs_are_learned, begin),
        cmocka_unit_test_setup(quantiles_are_calibrated, begin),
        cmocka_unit_test_setup(anything_can_be_measured, begin),
        cmocka_unit_test_setup(medians_with_weights, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
