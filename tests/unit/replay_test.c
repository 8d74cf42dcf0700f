/* replay_test.c - planner/state_text.c and simulation/replay.c: what is written reads back as the same,
 * bit for bit; a changed decision is found; damage is told
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "base/text.h"
#include "planner/policy.h"
#include "planner/state_text.h"
#include "simulation/random.h"
#include "simulation/replay.h"

enum { JOBS = 40 };

static struct plan_level levels[JOBS][3];
static struct plan_job jobs[JOBS];
static struct plan_job *pointers[JOBS];
static char ids[JOBS][40];
static const char *names[JOBS];
static double tokens[2] = {1e5 / 3, 7e4 / 9};

/* Anything that a state can be. */
static struct plan_state make_state(struct random *random, double now)
{
    for (int i = 0; i < JOBS; i++) {
        double rate = 0.1 + random_uniform(random);
        for (int k = 0; k < 3; k++)
            levels[i][k] = (struct plan_level){1 << k, rate * pow(1 << k, 0.8)};
        snprintf(ids[i], sizeof(ids[i]), "100-%06d-job.%d", i, i);
        names[i] = ids[i];
        pointers[i] = &jobs[i];
        bool runs = random_uniform(random) < 0.3;
        jobs[i] = (struct plan_job){.id = ids[i],
                                    .arrival = now - 1000 * random_uniform(random),
                                    .deadline = random_uniform(random) < 0.7
                                                    ? now + 5000 * random_uniform(random)
                                                    : (double)INFINITY,
                                    .firm = i % 5 == 0,
                                    .weight = 0.5 + random_uniform(random),
                                    .work = 1000 * random_uniform(random),
                                    .levels = levels[i],
                                    .level_count = 3,
                                    .wanted = 1,
                                    .size = runs ? 1 : 0,
                                    .restart = 30 * random_uniform(random),
                                    .restart_left = runs ? 3 : 0,
                                    .least_gain = i % 4 ? 0 : 60.1,
                                    .promised = i % 10 == 0,
                                    .kept = i % 7 == 0,
                                    .unstoppable = i % 3 == 0,
                                    .owner = i % 3 - 1};
    }
    return (struct plan_state){.now = now,
                               .capacity = 16,
                               .guard = 0.1,
                               .reserve = 0.1,
                               .tokens = tokens,
                               .token_count = 2,
                               .jobs = pointers,
                               .job_count = JOBS};
}

/* Three plans, and what is decided. */
static void record(struct buffer *out)
{
    struct random random = {7};
    for (int i = 0; i < 3; i++) {
        struct plan_state state = make_state(&random, 1.79e9 + i * 5.1);
        struct state_text *text = state_text_begin(&state, "cpus", names);
        policy_max_met(&state);
        state_text_end(text, &state, out);
    }
}

static void expect_same(const struct plan_job *read, const struct plan_job *written)
{
    assert_string_equal(read->id, written->id);
    assert_memory_equal(&read->arrival, &written->arrival, sizeof(double));
    assert_memory_equal(&read->deadline, &written->deadline, sizeof(double));
    assert_memory_equal(&read->weight, &written->weight, sizeof(double));
    assert_memory_equal(&read->work, &written->work, sizeof(double));
    assert_memory_equal(&read->restart, &written->restart, sizeof(double));
    assert_memory_equal(&read->restart_left, &written->restart_left, sizeof(double));
    assert_memory_equal(&read->least_gain, &written->least_gain, sizeof(double));
    assert_memory_equal(read->levels, written->levels, sizeof(levels[0]));
    assert_int_equal(read->level_count, written->level_count);
    assert_int_equal(read->wanted, written->wanted);
    assert_int_equal(read->size, written->size);
    assert_int_equal(read->owner, written->owner);
    assert_int_equal(read->firm, written->firm);
    assert_int_equal(read->promised, written->promised);
    assert_int_equal(read->kept, written->kept);
    assert_int_equal(read->unstoppable, written->unstoppable);
}

static void a_state_reads_back_as_the_same(void **state)
{
    (void)state;
    struct random random = {3};
    struct buffer out = {0};
    struct recorded_plan plan;
    struct error error;
    struct arena *arena = arena_new();
    size_t line = 0;
    struct plan_state written = make_state(&random, 1.79e9 + 1.0 / 3);
    struct state_text *text = state_text_begin(&written, "gpus:v100", names);
    state_text_end(text, &written, &out);
    struct text rest = buffer_text(&out);
    if (state_text_next(arena, &rest, &line, &plan, &error) != 1)
        fail_msg("%s", error.text);
    assert_true(text_is(plan.pool, "gpus:v100"));
    assert_memory_equal(&plan.state.now, &written.now, sizeof(double));
    assert_int_equal(plan.state.token_count, 2);
    assert_memory_equal(plan.state.tokens, tokens, sizeof(tokens));
    assert_int_equal(plan.state.job_count, JOBS);
    for (int i = 0; i < JOBS; i++)
        expect_same(plan.state.jobs[i], &jobs[i]);
    assert_int_equal(state_text_next(arena, &rest, &line, &plan, &error), 0);
    buffer_free(&out);
    arena_free(arena);
}

static void run(struct text recording, struct replay *replay, int expected)
{
    static struct arena *arena;
    struct error error = {""};
    if (!arena)
        arena = arena_new();
    assert_int_equal(replay_run(arena, recording, replay, &error), expected);
    assert_int_equal(error.text[0] != '\0', expected != 0);
}

static void what_was_decided_is_decided_again(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct replay replay;
    record(&out);
    run(buffer_text(&out), &replay, 0);
    assert_int_equal(replay.plans, 3);
    assert_int_equal(replay.decisions, 3 * JOBS);
    assert_int_equal(replay.different, 0);
    assert_int_equal(replay.pool_count, 1);
    assert_true(replay.pools[0].jobs > 0 && replay.pools[0].started > 0);
    /* One that was cut off by a crash does not count. */
    run((struct text){out.data, out.length - 3}, &replay, 0);
    assert_int_equal(replay.plans, 2);
    buffer_free(&out);
}

/* Another digit somewhere: the state is another, or the decision; neither may go unseen or crash. */
static void change(struct buffer *out, const char *key, char digit)
{
    char *at = strstr(out->data, key);
    assert_non_null(at);
    at[strlen(key)] = digit;
}

static void a_changed_decision_is_found(void **state)
{
    (void)state;
    static const char *const keys[] = {" give=", " standing=", " finish=0x1.", " after="};
    static const char digits[] = {'7', '4', '0', 'o'};
    for (int i = 0; i < 4; i++) {
        struct buffer out = {0};
        struct replay replay;
        record(&out);
        change(&out, keys[i], digits[i]);
        run(buffer_text(&out), &replay, 0);
        assert_int_equal(replay.different, 1);
        assert_non_null(strstr(replay.differences[0], "plan 1 (cpus at 1790000000.000), 100-0000"));
        buffer_free(&out);
    }
}

static void damage_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "plan",
        "nonsense\n",
        "plan now=0x1p+0\n",
        "plan now=nan pool=cpus capacity=1 guard=0 reserve=0 sticky=0 tokens=- jobs=0 next=inf\nend\n",
        "plan now=1 pool=cpus capacity=-1 guard=0 reserve=0 sticky=0 tokens=- jobs=0 next=inf\nend\n",
        "plan now=1 pool=cpus capacity=1 guard=0 reserve=0 sticky=0 tokens=1,x jobs=0 next=inf\nend\n",
        "plan now=1 pool=cpus capacity=1 guard=0 reserve=0 sticky=0 tokens=- jobs=9999999 next=inf\nend\n",
        "plan now=1 pool=cpus capacity=1 guard=0 reserve=0 sticky=0 tokens=- jobs=0 next=inf\nstop\n",
    };
    struct replay replay;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        run(text_of(bad[i]), &replay, -1);
}

static void whatever_is_changed_nothing_breaks(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct random random = {11};
    record(&out);
    char *copy = memory_allocate(out.length + 1);
    struct arena *arena = arena_new();
    for (int i = 0; i < 400; i++) {
        struct recorded_plan plan;
        size_t line = 0;
        memcpy(copy, out.data, out.length + 1);
        for (int k = 0; k < 3; k++)
            copy[(size_t)(random_uniform(&random) * (double)out.length)] =
                "0123456789-.,:=abcdefinxpku \n"[(int)(random_uniform(&random) * 29)];
        struct text rest = {copy, out.length};
        while (state_text_next(arena, &rest, &line, &plan, NULL) > 0)
            policy_max_met(&plan.state);
        arena_reset(arena);
    }
    arena_free(arena);
    free(copy);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_reads_back_as_the_same),
        cmocka_unit_test(what_was_decided_is_decided_again),
        cmocka_unit_test(a_changed_decision_is_found),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(whatever_is_changed_nothing_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
