/* unit_times_test.c - planner/unit_times.c: how long a unit takes, of made-up steps and of real ones
 *
 * The real ones are times of training steps of ten workers of three jobs (Alibaba cluster data 2020,
 * mini-batch times; DLSPOOL_STEPS is a directory of such files); where they are not there, that part
 * says so.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "planner/predict.h"
#include "planner/unit_times.h"
#include "simulation/csv.h"
#include "simulation/random.h"

static void nothing_is_known_at_first(void **state)
{
    (void)state;
    struct unit_times times;
    unit_times_start(&times, 1);
    assert_true(unit_times_rate(&times, 0).rate == 0);
    unit_times_add(&times, 100, 1, 0); /* took long to start */
    unit_times_add(&times, 160, 2, 0); /* and to warm up */
    assert_true(unit_times_rate(&times, 170).rate == 0);
    unit_times_add(&times, 162, 3, 0);
    unit_times_add(&times, 164, 4, 0);
    assert_true(unit_times_rate(&times, 164).rate == 0);
    unit_times_add(&times, 166, 5, 0);
    struct unit_rate rate = unit_times_rate(&times, 166);
    assert_true(fabs(rate.rate - 0.5) < 1e-9);
    assert_int_equal(rate.samples, 3);
}

/* Of few and long units the second is the first that is known. */
static void few_units(void **state)
{
    (void)state;
    struct unit_times times;
    unit_times_start(&times, 0);
    unit_times_add(&times, 100, 1, 2);
    assert_true(unit_times_rate(&times, 100).rate == 0);
    unit_times_add(&times, 160, 2, 2);
    struct unit_rate rate = unit_times_rate(&times, 160);
    assert_true(fabs(rate.rate * 60 - 1) < 1e-9);
    assert_int_equal(rate.samples, 1);
}

static void stragglers_do_not_count(void **state)
{
    (void)state;
    struct unit_times times;
    double now = 0;
    unit_times_start(&times, 1);
    for (int done = 1; done <= 60; done++) {
        now += done % 10 == 0 ? 40 : 2; /* every tenth saves a checkpoint */
        unit_times_add(&times, now, done, 0);
    }
    assert_true(fabs(unit_times_rate(&times, now).rate - 0.5) < 1e-9);
}

static void a_change_shows_within_a_window(void **state)
{
    (void)state;
    struct unit_times times;
    double now = 0;
    int done = 0;
    unit_times_start(&times, 1);
    while (done < 500)
        unit_times_add(&times, now += 1, ++done, 0);
    for (int i = 0; i < 26; i++)
        unit_times_add(&times, now += 4, ++done, 0);
    assert_true(fabs(unit_times_rate(&times, now).rate - 0.25) < 1e-9);
}

static void going_back_starts_again(void **state)
{
    (void)state;
    struct unit_times times;
    double now = 0;
    unit_times_start(&times, 1);
    for (int done = 1; done <= 40; done++)
        unit_times_add(&times, now += 1, done, 0);
    unit_times_add(&times, now += 300, 20, 0);
    assert_true(unit_times_rate(&times, now).rate == 0);
    for (int done = 21; done <= 40; done++)
        unit_times_add(&times, now += 5, done, 0);
    assert_true(fabs(unit_times_rate(&times, now).rate - 0.2) < 1e-9);
    /* The same again, and time that goes back, are nothing. */
    unit_times_add(&times, now + 50, 40, 0);
    unit_times_add(&times, now - 1, 41, 0);
    assert_true(times.done == 40);
}

static void what_hangs_becomes_slow(void **state)
{
    (void)state;
    struct unit_times times;
    double now = 0;
    unit_times_start(&times, 1);
    for (int done = 1; done <= 40; done++)
        unit_times_add(&times, now += 1, done, 0);
    double before = unit_times_rate(&times, now + 30).rate;
    double after = unit_times_rate(&times, now + 1200).rate;
    double later = unit_times_rate(&times, now + 12000).rate;
    assert_true(before == 1);
    assert_true(after > 0.05 && after < 0.2 && later < after / 9);
}

/* Looked at every two seconds, whatever a unit takes: within 5 % after a minute, or after 50 units. */
static void looks_are_coarse(void **state)
{
    (void)state;
    static const double lengths[] = {0.003, 0.11, 0.7, 1.3, 1.9, 2, 3, 4.7, 7, 11, 23, 90};
    for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
        struct unit_times times;
        const double gap = 2, length = lengths[i];
        double end = fmax(120, 40 * length), now;
        unit_times_start(&times, 1);
        for (now = 1.1; now < end; now += gap)
            unit_times_add(&times, now, floor(now / length), gap);
        double found = unit_times_rate(&times, now).rate * length;
        if (fabs(found - 1) > 0.05)
            fail_msg("units of %g s: found %g of the rate", length, found);
    }
}

static void noise_is_averaged(void **state)
{
    (void)state;
    struct random random = {5};
    struct unit_times times;
    double now = 0;
    unit_times_start(&times, 1);
    for (int done = 1; done <= 400; done++)
        unit_times_add(&times, now += 3 * exp(0.2 * random_normal(&random)), done, 0);
    struct unit_rate rate = unit_times_rate(&times, now);
    assert_true(fabs(rate.rate * 3 - 1) < 0.08);
    assert_true(rate.spread > 0.1 && rate.spread < 0.3);
    assert_int_equal(rate.samples, UNIT_PIECES);
}

/* Real steps */

enum { MOST_STEPS = 400, WORKERS = 10 };

struct worker {
    double seconds[MOST_STEPS];
    int count;
};

static double variation(const struct worker *worker)
{
    double sum = 0, squares = 0, n = worker->count;
    for (int i = 0; i < worker->count; i++) {
        sum += worker->seconds[i];
        squares += worker->seconds[i] * worker->seconds[i];
    }
    return sqrt(squares / n - sum / n * (sum / n)) / (sum / n);
}

/* After a tenth of the steps: predicted / real time that is left, and whether it is within what was
 * said to be late. */
static double predict_rest(const struct worker *worker, bool *covered)
{
    struct unit_times times;
    struct prediction prediction;
    double now = 0, left = 0;
    int tenth = worker->count / 10;
    unit_times_start(&times, 1);
    for (int i = 0; i < worker->count; i++) {
        if (i < tenth)
            unit_times_add(&times, now += worker->seconds[i], i + 1, 0);
        else
            left += worker->seconds[i];
    }
    struct unit_rate rate = unit_times_rate(&times, now);
    struct predict_job job = {.sizes = {1},
                              .size_count = 1,
                              .wanted = 1,
                              .counted = true,
                              .total = worker->count,
                              .done = tenth,
                              .size = 1,
                              .elapsed = now,
                              .rate = rate.rate,
                              .spread = rate.spread,
                              .samples = rate.samples};
    predict(NULL, &job, &prediction);
    assert_true(prediction.known && prediction.live);
    *covered = predict_seconds_left(&prediction, 1, true) >= left;
    return predict_seconds_left(&prediction, 1, false) / left;
}

static void read_steps(const char *path, struct worker *workers)
{
    struct csv csv;
    struct error error;
    struct arena *arena = arena_new();
    assert_int_equal(csv_open(&csv, arena, path, &error), 0);
    int of = csv_column(&csv, "worker", &error), took = csv_column(&csv, "batch_time_norm", &error);
    assert_true(of >= 0 && took >= 0);
    while (csv_next(&csv, &error) > 0) {
        double worker, seconds;
        assert_int_equal(csv_number(&csv, of, 0, WORKERS - 1, &worker, &error), 0);
        assert_int_equal(csv_number(&csv, took, 1, 1e6, &seconds, &error), 0);
        struct worker *found = &workers[(int)worker];
        assert_true(found->count < MOST_STEPS);
        found->seconds[found->count++] = seconds;
    }
    arena_free(arena);
}

static void real_steps(void **state)
{
    (void)state;
    const double steady = 0.05, bound = 0.05;
    const char *directory = getenv("DLSPOOL_STEPS");
    int all = 0, covered_count = 0, steady_count = 0;
    for (int i = 1; i <= 3; i++) {
        static struct worker workers[WORKERS];
        char path[4096];
        snprintf(path, sizeof(path), "%s/job_%d_norm.csv",
                 directory ? directory : "../shared/data/steps", i);
        memset(workers, 0, sizeof(workers));
        if (access(path, R_OK)) {
            print_message("%s is not there: skipped\n", path);
            skip();
        }
        read_steps(path, workers);
        for (int j = 0; j < WORKERS; j++) {
            bool covered;
            double found = predict_rest(&workers[j], &covered);
            all++;
            covered_count += covered;
            if (variation(&workers[j]) > steady)
                continue;
            steady_count++;
            if (fabs(found - 1) > bound)
                fail_msg("job %d, worker %d: found %g of the time that is left", i, j, found);
        }
    }
    print_message("%d of %d workers are steady; the quantile 0.8 held for %d of %d\n", steady_count,
                  all, covered_count, all);
    assert_true(steady_count >= 20);
    assert_true(covered_count * 10 >= all * 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_at_first),
        cmocka_unit_test(few_units),
        cmocka_unit_test(stragglers_do_not_count),
        cmocka_unit_test(a_change_shows_within_a_window),
        cmocka_unit_test(going_back_starts_again),
        cmocka_unit_test(what_hangs_becomes_slow),
        cmocka_unit_test(looks_are_coarse),
        cmocka_unit_test(noise_is_averaged),
        cmocka_unit_test(real_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
