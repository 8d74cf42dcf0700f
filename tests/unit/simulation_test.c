/* simulation_test.c - simulation/engine.c: small traces whose end is known, and what holds for any */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "base/text.h"
#include "simulation/engine.h"
#include "simulation/plot.h"
#include "simulation/random.h"

static struct trace_curve curve = {
    .levels = {{1, 1}, {2, 1.8}, {4, 3}, {8, 4}}, .level_count = 4, .batch = 64};
static struct trace_curve *curves[] = {&curve};

static struct simulation_options usual(int gpus)
{
    return (struct simulation_options){.gpus = gpus,
                                       .tick = 60,
                                       .restart = 10,
                                       .guard = 60,
                                       .live = 120,
                                       .exponent = 0.5,
                                       .deadline_scale = 1,
                                       .seed = 1};
}

static struct simulation_result run(struct trace_job *jobs, size_t count,
                                    const struct simulation_options *options, const char *policy)
{
    struct trace trace = {.jobs = jobs, .count = count, .curves = curves, .curve_count = 1};
    struct simulation_result result;
    engine_run(&trace, options, policy_find(text_of(policy)), &result, NULL);
    return result;
}

static struct trace_job make_job(const char *id, double arrival, double work, double deadline)
{
    return (struct trace_job){.id = id,
                              .arrival = arrival,
                              .work = work,
                              .deadline = deadline,
                              .wanted = 1,
                              .curve = &curve};
}

static void one_job_takes_what_it_takes(void **state)
{
    (void)state;
    struct simulation_options options = usual(1);
    struct trace_job job = make_job("a", 500, 100, 610);
    struct simulation_result result = run(&job, 1, &options, "fifo");
    assert_true(fabs(result.span - 110) < 1e-6); /* 10 s of restart, 100 of work */
    assert_int_equal(result.met, 1);
    assert_int_equal(result.starts, 1);
    assert_true(fabs(result.restart_seconds - 10) < 1e-6);
    assert_true(fabs(result.utilisation - 1) < 1e-6);
    assert_true(fabs(result.effective - 100.0 / 110) < 1e-6);

    job.deadline = 609;
    result = run(&job, 1, &options, "fifo");
    assert_int_equal(result.met, 0);
    assert_int_equal(result.feasible, 0);
    assert_true(fabs(result.tardiness_mean - 1) < 1e-6);
    assert_true(fabs(result.late_mean - 110) < 1e-6);
    options.deadline_scale = 2; /* twice as far from the arrival */
    result = run(&job, 1, &options, "fifo");
    assert_int_equal(result.met, 1);
    options.best_effort = 1;
    result = run(&job, 1, &options, "ours");
    assert_int_equal(result.deadline_jobs, 0);
    assert_true(fabs(result.best_effort_mean - 110) < 1e-6);
}

static void decisions_are_made_at_ticks(void **state)
{
    (void)state;
    struct simulation_options options = usual(1);
    struct trace_job jobs[] = {make_job("a", 0, 100, (double)INFINITY),
                               make_job("b", 1, 100, (double)INFINITY)};
    struct simulation_result result = run(jobs, 2, &options, "fifo");
    assert_true(fabs(result.span - 220) < 1e-6); /* b is seen at once, and has its turn after a */
    jobs[1].arrival = 100; /* a ends 10 s later; the next decision is a tick after the last */
    result = run(jobs, 2, &options, "fifo");
    assert_true(fabs(result.span - 270) < 1e-6);
    jobs[1].arrival = 1000;
    result = run(jobs, 2, &options, "fifo");
    assert_true(fabs(result.span - 1110) < 1e-6);
}

/* A firm job keeps its place, though another comes that would be preferred. */
static void promises_are_counted(void **state)
{
    (void)state;
    struct simulation_options options = usual(1);
    struct trace_job jobs[] = {make_job("a", 0, 1000, 1100), make_job("b", 10, 500, 900)};
    struct simulation_result result = run(jobs, 2, &options, "ours");
    assert_int_equal(result.promised, 0);
    assert_int_equal(result.met, 1); /* b, which is cheaper */
    assert_true(result.preemptions > 0);
    options.firm = 1;
    result = run(jobs, 2, &options, "ours");
    assert_int_equal(result.promised, 1);
    assert_int_equal(result.broken, 0);
    assert_int_equal(result.met, 1);
    assert_int_equal(result.preemptions, 0);
    options.error = 3; /* what was promised cannot be known */
    options.live = 1e9;
    options.seed = 4;
    size_t broken = 0;
    for (options.seed = 1; options.seed < 20; options.seed++)
        broken += run(jobs, 1, &options, "ours").broken;
    assert_true(broken == 0); /* alone it runs at all it can get */
    jobs[0].work = 1e4;
    for (options.seed = 1; options.seed < 20; options.seed++)
        broken += run(jobs, 1, &options, "ours").broken;
    assert_true(broken > 0);
}

static void a_job_that_is_too_large_is_unfinished(void **state)
{
    (void)state;
    static struct trace_curve wide = {.levels = {{4, 1}}, .level_count = 1, .batch = 1};
    static struct trace_curve *wides[] = {&wide};
    struct simulation_options options = usual(2);
    size_t count;
    const struct policy *all = policies(&count);
    for (size_t i = 0; i < count; i++) {
        struct trace_job job = {
            .id = "a", .work = 10, .deadline = 1e6, .wanted = 4, .curve = &wide};
        struct trace trace = {.jobs = &job, .count = 1, .curves = wides, .curve_count = 1};
        struct simulation_result result;
        engine_run(&trace, &options, &all[i], &result, NULL);
        assert_int_equal(result.unfinished, 1);
        assert_int_equal(result.feasible, 0);
        assert_int_equal(result.met, 0);
    }
}

enum { JOBS = 120 };

static void make_trace(struct trace_job *jobs, char (*ids)[16])
{
    struct random random = {17};
    double arrival = 0;
    for (int i = 0; i < JOBS; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%d", i);
        arrival += 300 * random_uniform(&random);
        double work = exp(6 + random_normal(&random));
        jobs[i] =
            make_job(ids[i], arrival, work, arrival + work * (0.3 + 2 * random_uniform(&random)));
        jobs[i].wanted = 1 << (int)(4 * random_uniform(&random));
        if (i % 17 == 0)
            jobs[i].work = 0;
    }
}

static void whatever_the_policy(void **state)
{
    (void)state;
    static struct trace_job jobs[JOBS];
    static char ids[JOBS][16];
    size_t count, met_fifo = 0;
    const struct policy *all = policies(&count);
    make_trace(jobs, ids);
    for (size_t i = 0; i < count; i++)
        for (int how = 0; how < 3; how++) {
            struct simulation_options options = usual(8);
            options.curves = (enum curve_knowledge)how;
            options.error = how ? 0.3 : 0;
            options.best_effort = how == 2 ? 0.3 : 0;
            options.reserve = 0.1;
            struct simulation_result one = run(jobs, JOBS, &options, all[i].name);
            struct simulation_result two = run(jobs, JOBS, &options, all[i].name);
            one.decision_seconds = two.decision_seconds = 0;
            assert_memory_equal(&one, &two, sizeof(one)); /* the same, byte for byte */
            assert_int_equal(one.unfinished, 0);
            assert_int_equal(one.deadline_jobs + one.best_effort_jobs, JOBS);
            assert_true(one.met <= one.feasible && one.feasible <= one.deadline_jobs);
            assert_true(one.utilisation <= 1 + 1e-9 && one.effective <= one.utilisation);
            if (how == 0 && i == 0)
                met_fifo = one.met;
            if (how == 0 && strcmp(all[i].name, "ours") == 0)
                assert_true(one.met > met_fifo);
            options.seed = 2;
            two = run(jobs, JOBS, &options, all[i].name);
            assert_true(how < 2 || two.best_effort_mean != one.best_effort_mean);
        }
}

static void a_picture_is_drawn(void **state)
{
    (void)state;
    static struct trace_job jobs[JOBS];
    static char ids[JOBS][16];
    struct simulation_options options = usual(8);
    struct simulation_samples samples = {0};
    struct simulation_result result;
    make_trace(jobs, ids);
    struct trace trace = {.jobs = jobs, .count = JOBS, .curves = curves, .curve_count = 1};
    engine_run(&trace, &options, policy_find(text_of("ours")), &result, &samples);
    assert_int_equal(samples.count, result.decisions);
    for (size_t i = 0; i < samples.count; i++)
        assert_true(samples.samples[i].used >= 0 && samples.samples[i].used <= 8);
    assert_int_equal(samples.samples[samples.count - 1].missed, result.deadline_jobs - result.met);
    struct buffer picture = {0};
    plot_draw(&picture, "a<b & \"c\"\x01", 8, &(struct plot_series){"ours", &samples}, 1);
    assert_non_null(strstr(picture.data, "a&lt;b &amp; \"c\"</text>"));
    buffer_free(&picture);
    free(samples.samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_job_takes_what_it_takes),
        cmocka_unit_test(decisions_are_made_at_ticks),
        cmocka_unit_test(promises_are_counted),
        cmocka_unit_test(a_job_that_is_too_large_is_unfinished),
        cmocka_unit_test(whatever_the_policy),
        cmocka_unit_test(a_picture_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
