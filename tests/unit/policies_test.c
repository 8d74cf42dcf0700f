/* policies_test.c - planner/: what each policy decides of small states, and what holds for any state */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "planner/policy.h"
#include "simulation/random.h"

enum { MOST = 400 };

static const struct plan_level curve[] = {{1, 1}, {2, 1.8}, {4, 3}, {8, 4}};
static const double never = (double)INFINITY;

struct scene {
    struct plan_state state;
    struct plan_job jobs[MOST];
    struct plan_job *pointers[MOST];
    char ids[MOST][24];
};

static struct scene *new_scene(int capacity)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    scene->state = (struct plan_state){.now = 1000, .capacity = capacity, .jobs = scene->pointers};
    return scene;
}

static struct plan_job *add(struct scene *scene, double work, double deadline)
{
    size_t at = scene->state.job_count++;
    struct plan_job *job = &scene->jobs[at];
    snprintf(scene->ids[at], sizeof(scene->ids[at]), "j%05zu", at);
    *job = (struct plan_job){.id = scene->ids[at],
                             .arrival = 900,
                             .deadline = deadline,
                             .weight = 1,
                             .work = work,
                             .levels = curve,
                             .level_count = 4,
                             .wanted = 1};
    scene->pointers[at] = job;
    return job;
}

static void decide(struct scene *scene, const char *policy)
{
    policy_find(text_of(policy))->decide(&scene->state);
}

/* ---- small states ---- */

static void the_policies_have_their_names(void **state)
{
    (void)state;
    size_t count;
    const struct policy *all = policies(&count);
    assert_int_equal(count, 8);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(policy_find(text_of(all[i].name)), &all[i]);
    assert_null(policy_find(text_of("none")));
}

static void rigid_policies_order_and_pass_over(void **state)
{
    (void)state;
    struct scene *scene = new_scene(4);
    struct plan_job *runs = add(scene, 50, 1200), *wide = add(scene, 400, 1300);
    struct plan_job *long_one = add(scene, 500, 1900), *short_one = add(scene, 20, 2000);
    runs->size = 2;
    runs->arrival = 1;
    wide->wanted = 4;
    wide->arrival = 2;
    long_one->arrival = 3;
    long_one->wanted = short_one->wanted = 2;
    short_one->arrival = 4;

    decide(scene, "fifo");
    assert_int_equal(runs->give, 2);
    assert_int_equal(wide->give + long_one->give + short_one->give, 0);
    decide(scene, "backfill"); /* runs ends in 28 s: the long one would delay the wide one */
    assert_int_equal(long_one->give, 0);
    assert_int_equal(short_one->give, 2);
    decide(scene, "sjf");
    assert_int_equal(short_one->give, 2);
    assert_int_equal(long_one->give, 0);
    decide(scene, "edf"); /* the wide one is first, and passed over */
    assert_int_equal(long_one->give, 2);
    assert_int_equal(short_one->give, 0);
    long_one->deadline = 2050; /* the later one, but with less laxity: 772 against 989 */
    decide(scene, "llf");
    assert_int_equal(long_one->give, 2);
    assert_int_equal(short_one->give, 0);
    long_one->deadline = 2500; /* laxity 1000 - 278 + 500 against 1000 - 11 */
    decide(scene, "llf");
    assert_int_equal(short_one->give, 2);
    assert_int_equal(long_one->give, 0);
    free(scene);
}

static void backfill_uses_what_is_spare_once(void **state)
{
    (void)state;
    struct scene *scene = new_scene(5);
    struct plan_job *runs = add(scene, 50, never), *wide = add(scene, 400, never);
    struct plan_job *one = add(scene, 5000, never), *two = add(scene, 5000, never);
    runs->size = 2;
    wide->wanted = 4;
    for (int i = 1; i < 4; i++)
        scene->jobs[i].arrival = 900 + i;
    decide(scene, "backfill"); /* when the wide one starts, one GPU of five is not used */
    assert_int_equal(wide->give, 0);
    assert_int_equal(one->give, 1);
    assert_int_equal(two->give, 0);
    two->work = 20; /* is done before */
    decide(scene, "backfill");
    assert_int_equal(one->give, 1);
    assert_int_equal(two->give, 1);
    free(scene);
}

static void elasticflow_gives_to_admitted_jobs_first(void **state)
{
    (void)state;
    struct scene *scene = new_scene(2);
    struct plan_job *admitted = add(scene, 1000, 90000), *declined = add(scene, 1e5, 1100);
    decide(scene, "elasticflow");
    assert_true(admitted->admitted && declined->refused);
    assert_int_equal(admitted->give, 2);
    assert_int_equal(declined->give, 0);
    scene->state.capacity = 3; /* a level has 4 GPUs; what is left is not wasted */
    decide(scene, "elasticflow");
    assert_int_equal(admitted->give, 2);
    assert_int_equal(declined->give, 1);
    free(scene);
}

/* However many come together, they are answered, soon, and what is promised fits. */
static void elasticflow_bears_a_crowd(void **state)
{
    (void)state;
    static struct plan_job jobs[15000];
    static struct plan_job *pointers[15000];
    static char ids[15000][24];
    struct plan_state crowd = {.capacity = 64, .jobs = pointers, .job_count = 15000};
    struct random random = {3};
    double needed = 0;
    size_t admitted = 0;
    for (size_t i = 0; i < crowd.job_count; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%zu", i);
        double work = 10 + 1000 * random_uniform(&random);
        jobs[i] = (struct plan_job){.id = ids[i],
                                    .weight = 1,
                                    .work = work,
                                    .levels = curve,
                                    .deadline = work + 20000 * random_uniform(&random),
                                    .level_count = 4,
                                    .wanted = 1};
        pointers[i] = &jobs[i];
    }
    policy_elasticflow(&crowd);
    for (size_t i = 0; i < crowd.job_count; i++) {
        assert_true(jobs[i].admitted != jobs[i].refused);
        admitted += jobs[i].admitted;
        needed += jobs[i].admitted ? jobs[i].work : 0;
        assert_true(!jobs[i].admitted || jobs[i].finish <= jobs[i].deadline + 1e-6);
    }
    assert_true(admitted > 1000 && needed <= 64 * 21010.0);
}

static void deadlines_are_met_with_the_least(void **state)
{
    (void)state;
    static const char *const elastic[] = {"paper", "ours"};
    for (int i = 0; i < 2; i++) {
        struct scene *scene = new_scene(1);
        struct plan_job *job = add(scene, 100, 1000 + 101 * 1.2);
        decide(scene, elastic[i]);
        assert_int_equal(job->give, 1);
        assert_int_equal(job->deadline_status, DEADLINE_ON_TRACK);
        assert_true(job->finish == 1100);
        free(scene);
    }
}

static void a_little_is_left_before_the_deadline(void **state)
{
    (void)state;
    struct scene *scene = new_scene(2);
    struct plan_job *job = add(scene, 100, 1103);
    decide(scene, "ours");
    assert_true(job->finish == 1100);
    job->deadline = 1101; /* one GPU would do, but hardly */
    decide(scene, "ours");
    assert_true(job->finish < 1060);
    job->level_count = 1; /* it has to */
    decide(scene, "ours");
    assert_true(job->finish == 1100);
    assert_int_equal(job->deadline_status, DEADLINE_ON_TRACK);
    job->level_count = 4;
    job->deadline = 1103;
    scene->state.guard = 5;
    decide(scene, "ours");
    assert_true(job->finish < 1060);
    free(scene);
}

static void spare_capacity_is_used(void **state)
{
    (void)state;
    static const char *const elastic[] = {"elasticflow", "ours"};
    for (int i = 0; i < 2; i++) {
        struct scene *scene = new_scene(8);
        struct plan_job *job = add(scene, 1000, 90000);
        decide(scene, elastic[i]);
        assert_int_equal(job->give, 8);
        free(scene);
    }
}

static void who_cannot_meet_runs_on_spare_capacity(void **state)
{
    (void)state;
    static const char *const elastic[] = {"paper", "elasticflow", "ours"};
    for (int i = 0; i < 3; i++) {
        struct scene *scene = new_scene(2);
        struct plan_job *cannot = add(scene, 1e5, 1100), *late = add(scene, 1e5, 990);
        decide(scene, elastic[i]);
        assert_int_equal(cannot->deadline_status, DEADLINE_CANNOT_MEET);
        assert_int_equal(late->deadline_status, DEADLINE_LATE);
        assert_int_equal(cannot->give, 1);
        assert_int_equal(late->give, 1);
        free(scene);
    }
}

/* One GPU, and two that each need all of it. */
static struct scene *rivals(struct plan_job **cheap, struct plan_job **dear)
{
    struct scene *scene = new_scene(1);
    *dear = add(scene, 150, 1200);
    *cheap = add(scene, 100, 1200);
    (*cheap)->arrival = (*dear)->arrival = 1000;
    return scene;
}

static void the_cheapest_are_kept_by_weight(void **state)
{
    (void)state;
    struct plan_job *cheap, *dear;
    struct scene *scene = rivals(&cheap, &dear);
    decide(scene, "ours");
    assert_int_equal(cheap->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(dear->deadline_status, DEADLINE_AT_RISK);
    dear->weight = 2;
    decide(scene, "ours");
    assert_int_equal(cheap->deadline_status, DEADLINE_AT_RISK);
    assert_int_equal(dear->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(dear->give, 1);
    free(scene);
}

/* Of two that are alike, the one that runs goes on, also if a little more is predicted of it. */
static void what_runs_keeps_its_place(void **state)
{
    (void)state;
    struct scene *scene = new_scene(1);
    struct plan_job *runs = add(scene, 100, 1150), *waits = add(scene, 80, 1150);
    runs->size = 1;
    decide(scene, "ours");
    assert_int_equal(runs->give, 0);
    scene->state.sticky = 2;
    decide(scene, "ours");
    assert_int_equal(runs->give, 1);
    assert_int_equal(waits->deadline_status, DEADLINE_AT_RISK);
    waits->work = 40; /* that is another matter */
    runs->work = 130;
    decide(scene, "ours");
    assert_int_equal(waits->give, 1);
    free(scene);
}

/* The many cheap jobs of one user do not leave another's only one behind. */
static void users_take_turns(void **state)
{
    (void)state;
    static const double tokens[] = {1e9, 1e9};
    struct scene *scene = new_scene(1);
    for (int i = 0; i < 20; i++)
        add(scene, 10, 1100);
    struct plan_job *only = add(scene, 15, 1100);
    only->owner = 1;
    decide(scene, "ours");
    assert_int_equal(only->deadline_status, DEADLINE_AT_RISK);
    scene->state.tokens = tokens;
    scene->state.token_count = 2;
    decide(scene, "ours");
    assert_int_equal(only->deadline_status, DEADLINE_ON_TRACK);
    free(scene);
}

static void what_runs_in_time_is_not_given_up(void **state)
{
    (void)state;
    struct scene *scene = new_scene(8);
    struct plan_job *job = add(scene, 60, 1025);
    job->size = 4; /* 20 s; with 8 it would be 15, and a restart */
    job->restart = 30;
    decide(scene, "ours");
    assert_int_equal(job->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(job->give, 4);
    free(scene);
}

/* A wide one does not fit beside one that counts for more: nobody else is left out for it. */
static void the_dearest_makes_room(void **state)
{
    (void)state;
    static const struct plan_level one = {1, 1}, both = {2, 1};
    struct scene *scene = new_scene(2);
    struct plan_job *dear = add(scene, 130, 1150), *counts = add(scene, 134, 1151);
    struct plan_job *wide = add(scene, 20, 1153.9);
    dear->levels = counts->levels = &one;
    wide->levels = &both;
    dear->level_count = counts->level_count = wide->level_count = 1;
    dear->arrival = counts->arrival = wide->arrival = 1000;
    counts->weight = 10;
    decide(scene, "ours");
    assert_int_equal(dear->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(counts->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(wide->deadline_status, DEADLINE_AT_RISK);
    counts->work = 120; /* now it is enough that the dear one makes room */
    counts->weight = 100;
    dear->work = 140;
    decide(scene, "ours");
    assert_int_equal(dear->deadline_status, DEADLINE_AT_RISK);
    assert_int_equal(counts->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(wide->deadline_status, DEADLINE_ON_TRACK);
    free(scene);
}

static void a_promise_is_kept(void **state)
{
    (void)state;
    struct plan_job *cheap, *dear;
    struct scene *scene = rivals(&cheap, &dear);
    dear->firm = true;
    decide(scene, "ours"); /* none was made yet */
    assert_int_equal(dear->deadline_status, DEADLINE_AT_RISK);
    assert_false(dear->promised);
    scene->state.job_count = 1; /* alone, it is promised */
    decide(scene, "ours");
    assert_true(dear->promised);
    scene->state.job_count = 2;
    decide(scene, "ours");
    assert_int_equal(dear->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(cheap->deadline_status, DEADLINE_AT_RISK);
    assert_false(cheap->promised);
    free(scene);
}

static void what_is_kept_stays(void **state)
{
    (void)state;
    static const char *const elastic[] = {"paper", "elasticflow", "ours"};
    for (int i = 0; i < 3; i++) {
        struct scene *scene = new_scene(4);
        struct plan_job *kept = add(scene, 1e6, never), *other = add(scene, 100, 1040);
        kept->size = 2;
        kept->kept = true;
        decide(scene, elastic[i]);
        assert_int_equal(kept->give, 2);
        assert_true(other->give <= 2); /* it would need 4 */
        kept->size = 0;                /* does not run: nothing to keep */
        other->refused = false;
        decide(scene, elastic[i]);
        assert_int_equal(other->give, 4);
        kept->kept = false;
        kept->size = 2;
        decide(scene, elastic[i]);
        assert_int_equal(other->give, 4);
        assert_int_equal(kept->give, 0);
        free(scene);
    }
}

static void what_cannot_be_stopped_shrinks_to_its_least(void **state)
{
    (void)state;
    struct scene *scene = new_scene(4);
    struct plan_job *fixed = add(scene, 1e6, never), *other = add(scene, 100, 1060);
    add(scene, 50, 1060);
    fixed->unstoppable = true;
    fixed->size = 4;
    decide(scene, "ours"); /* the others need 2 and 1 */
    assert_int_equal(fixed->give, 1);
    assert_int_equal(other->give, 2);
    scene->state.job_count = 2;
    other->deadline = 1040; /* needs all 4 */
    decide(scene, "ours");
    assert_int_equal(fixed->give, 2);
    assert_int_equal(other->give, 2);
    assert_int_equal(other->deadline_status, DEADLINE_AT_RISK);
    for (int i = 0; i < 2; i++) { /* these do not resize it */
        decide(scene, i ? "paper" : "elasticflow");
        assert_int_equal(fixed->give, 4);
        assert_int_equal(other->give, 0);
    }
    fixed->size = 0; /* it can wait */
    decide(scene, "ours");
    assert_int_equal(fixed->give, 0);
    assert_int_equal(other->give, 4);
    free(scene);
}

static void what_cannot_be_stopped_is_planned_around(void **state)
{
    (void)state;
    struct scene *scene = new_scene(2);
    struct plan_job *fixed = add(scene, 100, 1120), *other = add(scene, 90, 1111);
    fixed->unstoppable = true;
    fixed->size = 2;
    decide(scene, "ours"); /* each has one: its own floor is not in its way */
    assert_int_equal(fixed->give, 1);
    assert_int_equal(other->give, 1);
    assert_int_equal(fixed->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(other->deadline_status, DEADLINE_ON_TRACK);
    fixed->deadline = 900; /* late, but it runs */
    other->deadline = 1060;
    decide(scene, "ours");
    assert_int_equal(fixed->give, 1);
    assert_int_equal(other->give, 1);
    assert_int_equal(other->deadline_status, DEADLINE_AT_RISK);
    scene->state.capacity = 0; /* what it ran on is lost, and not yet noticed */
    decide(scene, "ours");
    assert_int_equal(fixed->give, 1);
    assert_int_equal(other->give, 0);
    free(scene);
}

static void what_best_effort_holds_is_of_its_reserve(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct scene *scene = new_scene(10);
        struct plan_job *first = add(scene, 1e5, never), *second = add(scene, 1e5, never);
        for (int k = 0; k < 20; k++)
            add(scene, 100, 1150);
        first->size = 1;
        first->kept = i == 0;
        first->unstoppable = i == 1;
        scene->state.reserve = 0.1;
        decide(scene, "ours");
        assert_int_equal(first->give, 1);
        assert_int_equal(second->give, 0);
        first->size = 0;
        decide(scene, "ours");
        assert_int_equal(first->give + second->give, 1);
        free(scene);
    }
}

/* ---- budgets ---- */

/* Many small and tight ones of user 0, a large one of user 1, one GPU. */
static struct scene *invented(struct plan_job **large)
{
    struct scene *scene = new_scene(1);
    for (int i = 0; i < 5; i++)
        add(scene, 100, 1100 + 120 * (i + 1))->owner = 0;
    *large = add(scene, 400, 1500);
    (*large)->owner = 1;
    (*large)->level_count = 1;
    for (size_t i = 0; i < 6; i++)
        scene->jobs[i].arrival = 1000;
    return scene;
}

static size_t on_track(const struct scene *scene, int owner)
{
    size_t count = 0;
    for (size_t i = 0; i < scene->state.job_count; i++)
        count +=
            scene->jobs[i].owner == owner && scene->jobs[i].deadline_status == DEADLINE_ON_TRACK;
    return count;
}

static void tokens_bound_what_one_user_claims(void **state)
{
    (void)state;
    struct plan_job *large;
    struct scene *scene = invented(&large);
    double tokens[] = {99, 1e4};
    decide(scene, "ours");
    assert_int_equal(on_track(scene, 0), 5);
    assert_int_equal(large->deadline_status, DEADLINE_AT_RISK);
    scene->state.tokens = tokens;
    scene->state.token_count = 2;
    decide(scene, "ours"); /* the user has tokens for none of them; two fit behind the large one */
    assert_int_equal(large->deadline_status, DEADLINE_ON_TRACK);
    assert_int_equal(on_track(scene, 0), 2);
    assert_true(scene->jobs[0].over && !large->over);
    tokens[0] = 400; /* for the latest four, and then the large one cannot be done in time */
    decide(scene, "ours");
    assert_int_equal(large->deadline_status, DEADLINE_AT_RISK);
    assert_int_equal(on_track(scene, 0), 5); /* nothing is left unused */
    assert_false(scene->jobs[1].over);
    assert_true(scene->jobs[0].over);
    for (int i = 0; i < 5; i++)
        scene->jobs[i].weight = 2; /* counts twice, and is paid twice */
    decide(scene, "ours");
    assert_false(scene->jobs[3].over);
    assert_true(scene->jobs[2].over);
    large->owner = 7; /* nobody's: no bound */
    decide(scene, "ours");
    assert_false(large->over);
    free(scene);
}

static void beyond_tokens_nothing_is_promised(void **state)
{
    (void)state;
    struct plan_job *large;
    struct scene *scene = invented(&large);
    double tokens[] = {150, 1e4};
    scene->state.tokens = tokens;
    scene->state.token_count = 2;
    for (int i = 0; i < 5; i++)
        scene->jobs[i].firm = true;
    scene->state.job_count = 5;
    decide(scene, "ours");
    assert_int_equal(on_track(scene, 0), 5);
    assert_true(scene->jobs[4].promised);
    assert_false(scene->jobs[0].promised);
    scene->state.job_count = 6;
    scene->jobs[3].work *= 0.7; /* cheaper now, but what was promised is paid first */
    decide(scene, "ours");
    assert_true(scene->jobs[4].promised && !scene->jobs[4].over);
    assert_true(scene->jobs[3].over);
    assert_int_equal(scene->jobs[4].deadline_status, DEADLINE_ON_TRACK);
    scene->jobs[4].work *= 1.6; /* it was to cost less when that was promised */
    decide(scene, "ours");
    assert_true(scene->jobs[4].over);
    free(scene);
}

static void beyond_tokens_others_have_the_spare(void **state)
{
    (void)state;
    struct scene *scene = new_scene(2);
    const double tokens[] = {0};
    struct plan_job *kept = add(scene, 1e5, never), *waits = add(scene, 36000, never);
    struct plan_job *tight = add(scene, 100, 1060); /* needs 2 */
    kept->size = 1;
    kept->kept = true;
    waits->owner = 1;
    decide(scene, "ours");
    assert_int_equal(tight->deadline_status, DEADLINE_AT_RISK);
    assert_int_equal(tight->give, 1);
    scene->state.tokens = tokens;
    scene->state.token_count = 1;
    decide(scene, "ours");
    assert_int_equal(waits->give, 1);
    assert_int_equal(tight->give, 0);
    free(scene);
}

static void growing_has_to_save_enough(void **state)
{
    (void)state;
    struct scene *scene = new_scene(8);
    struct plan_job *job = add(scene, 100, 9000);
    decide(scene, "ours");
    assert_int_equal(job->give, 8); /* done in 25 s, not in 100 */
    job->least_gain = 75;
    decide(scene, "ours");
    assert_int_equal(job->give, 8);
    job->least_gain = 76;
    decide(scene, "ours");
    assert_int_equal(job->give, 1);
    job->deadline = 1080; /* needs 2; from 2 to 8 is 31 s, from 1 it was 75 */
    job->least_gain = 50;
    decide(scene, "ours");
    assert_int_equal(job->give, 2);
    job->deadline = never;
    job->size = 2; /* what it has it keeps: 56 s, or 25 and a restart */
    decide(scene, "ours");
    assert_int_equal(job->give, 2);
    job->least_gain = 20;
    decide(scene, "ours");
    assert_int_equal(job->give, 8);
    job->restart = 12;
    decide(scene, "ours");
    assert_int_equal(job->give, 2);
    scene->state.capacity = 5; /* 4 within reach: 34 s and a restart */
    job->restart = 1;
    job->least_gain = 21.3;
    decide(scene, "ours");
    assert_int_equal(job->give, 2);
    job->least_gain = 21.2;
    decide(scene, "ours");
    assert_int_equal(job->give, 4);
    free(scene);
}

static void best_effort_has_its_reserve(void **state)
{
    (void)state;
    struct scene *scene = new_scene(10);
    for (int i = 0; i < 20; i++)
        add(scene, 100, 1150);
    struct plan_job *effort = add(scene, 1000, never);
    decide(scene, "ours");
    assert_int_equal(effort->give, 0);
    scene->state.reserve = 0.1;
    decide(scene, "ours");
    assert_int_equal(effort->give, 1);
    /* It is lent back when nobody wants it. */
    effort->deadline = 1150;
    effort->work = 100;
    int used = 0;
    decide(scene, "ours");
    for (size_t i = 0; i < scene->state.job_count; i++)
        used += scene->jobs[i].give;
    assert_int_equal(used, 10);
    free(scene);

    /* One that needs the whole cluster is not kept waiting by what is lent. */
    static const struct plan_level whole = {10, 10};
    scene = new_scene(10);
    scene->state.reserve = 0.1;
    struct plan_job *wide = add(scene, 100, 1100);
    add(scene, 1000, never);
    wide->levels = &whole;
    wide->level_count = 1;
    decide(scene, "ours");
    assert_int_equal(wide->give, 10);
    free(scene);
}

static void best_effort_ages(void **state)
{
    (void)state;
    struct scene *scene = new_scene(1);
    struct plan_job *effort = add(scene, 100, never);
    struct plan_job *rival = add(scene, 1500, 1000 + 1600);
    decide(scene, "ours");
    assert_int_equal(effort->give, 0);
    assert_int_equal(rival->give, 1);
    scene->state.now = 900 + 3700; /* more than an hour later; now it comes first, being cheaper */
    rival->deadline = scene->state.now + 1550;
    rival->arrival = scene->state.now;
    decide(scene, "ours");
    assert_int_equal(effort->give, 1);
    assert_int_equal(effort->deadline_status, DEADLINE_BEST_EFFORT);
    effort->size = 1; /* and goes on */
    decide(scene, "ours");
    assert_int_equal(effort->give, 1);
    free(scene);
}

/* ---- any state ---- */

static struct scene *random_scene(struct random *random)
{
    static const double tokens[] = {200, 3000};
    struct scene *scene = new_scene(1 + (int)(random_uniform(random) * 60));
    size_t count = (size_t)(random_uniform(random) * 80);
    int used = 0;
    bool alike = random_uniform(random) < 0.5; /* many that only their ids tell apart */
    scene->state.now = 5000;
    scene->state.guard = random_uniform(random) < 0.5 ? 0 : 60;
    scene->state.reserve = random_uniform(random) < 0.5 ? 0 : 0.2;
    scene->state.tokens = random_uniform(random) < 0.5 ? NULL : tokens;
    scene->state.token_count = 2;
    for (size_t i = 0; i < count; i++) {
        double work = exp(3 + 2 * random_normal(random)), slack = 3 * random_uniform(random);
        if (alike) {
            work = work < 20 ? 20 : 200;
            slack = slack < 1.5 ? 1.25 : 2.5;
        }
        struct plan_job *job = add(scene, work, never);
        if (random_uniform(random) < 0.8)
            job->deadline = 4900 + work * slack;
        job->arrival = alike ? 4800 : 5000 * random_uniform(random);
        job->level_count = 1 + (size_t)(random_uniform(random) * 4);
        if (random_uniform(random) < 0.1)
            job->levels = &curve[2], job->level_count = 2;
        job->wanted = 1 << (int)(random_uniform(random) * 5);
        job->restart = random_uniform(random) < 0.5 ? 0 : 30;
        job->firm = random_uniform(random) < 0.2;
        job->promised = job->firm && random_uniform(random) < 0.5;
        job->admitted = random_uniform(random) < 0.3;
        const struct plan_level *level =
            &job->levels[(size_t)(random_uniform(random) * (double)job->level_count)];
        if (random_uniform(random) < 0.4 && used + level->size <= scene->state.capacity) {
            job->size = level->size;
            used += job->size;
            job->restart_left = job->restart * random_uniform(random);
            job->kept = random_uniform(random) < 0.3;
            job->unstoppable = random_uniform(random) < 0.3;
        }
        job->owner = (int)(random_uniform(random) * 4) - 1;
    }
    return scene;
}

static bool same_decision(const struct plan_job *a, const struct plan_job *b)
{
    return a->give == b->give && a->deadline_status == b->deadline_status &&
           memcmp(&a->finish, &b->finish, sizeof(a->finish)) == 0 && a->promised == b->promised &&
           a->admitted == b->admitted && a->refused == b->refused && a->over == b->over;
}

static void whatever_the_state(void **state)
{
    (void)state;
    struct random random = {5};
    size_t count, given = 0;
    const struct policy *all = policies(&count);
    struct scene *copy = calloc(1, sizeof(*copy));
    for (int turn = 0; turn < 1500; turn++) {
        struct scene *scene = random_scene(&random);
        const struct policy *policy = &all[(size_t)turn % count];
        size_t jobs = scene->state.job_count;
        memcpy(copy, scene, sizeof(*copy));
        copy->state.jobs = copy->pointers;
        for (size_t i = 0; i < jobs; i++)
            copy->pointers[i] = &copy->jobs[i];
        for (size_t i = 0; i < jobs; i++) { /* the same jobs in another order */
            size_t other = i + (size_t)(random_uniform(&random) * (double)(jobs - i));
            struct plan_job *swapped = copy->pointers[i];
            copy->pointers[i] = copy->pointers[other];
            copy->pointers[other] = swapped;
        }
        policy->decide(&scene->state);
        policy->decide(&copy->state);
        int used = 0;
        for (size_t i = 0; i < jobs; i++) {
            const struct plan_job *job = &scene->jobs[i];
            if (!same_decision(job, &copy->jobs[i]))
                fail_msg("%s, turn %d: the order of the jobs matters to %s", policy->name, turn,
                         job->id);
            const struct plan_level *level = plan_level_at_most(job, job->give);
            assert_true(job->give >= 0);
            assert_true(job->give == 0 || (level && level->size == job->give));
            if (job->kept)
                assert_int_equal(job->give, job->size);
            if (job->unstoppable && job->size > 0)
                assert_true(job->give >= job->levels[0].size);
            used += job->give;
            given += job->give > 0;
        }
        if (used > scene->state.capacity)
            fail_msg("%s, turn %d: gives %d of %d", policy->name, turn, used,
                     scene->state.capacity);
        assert_memory_equal(&scene->state.next, &copy->state.next, sizeof(double));
        assert_true(scene->state.next >= scene->state.now);
        free(scene);
    }
    assert_true(given > 1500);
    free(copy);
}

/* All that are said to be on track are predicted to end in time, and together fit. */
static void what_is_on_track_can_be_done(void **state)
{
    (void)state;
    struct random random = {9};
    for (int turn = 0; turn < 200; turn++) {
        struct scene *scene = random_scene(&random);
        size_t jobs = scene->state.job_count;
        double total = 0, latest = scene->state.now;
        decide(scene, "ours");
        for (size_t i = 0; i < jobs; i++) {
            const struct plan_job *job = &scene->jobs[i];
            if (job->deadline_status != DEADLINE_ON_TRACK)
                continue;
            assert_true(job->finish <= job->deadline + 1e-6);
            total += job->work / job->levels[0].rate * job->levels[0].size;
            latest = job->deadline > latest ? job->deadline : latest;
        }
        assert_true(total <= scene->state.capacity * (latest - scene->state.now) + 1e-6);
        free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policies_have_their_names),
        cmocka_unit_test(rigid_policies_order_and_pass_over),
        cmocka_unit_test(backfill_uses_what_is_spare_once),
        cmocka_unit_test(elasticflow_gives_to_admitted_jobs_first),
        cmocka_unit_test(elasticflow_bears_a_crowd),
        cmocka_unit_test(deadlines_are_met_with_the_least),
        cmocka_unit_test(a_little_is_left_before_the_deadline),
        cmocka_unit_test(spare_capacity_is_used),
        cmocka_unit_test(who_cannot_meet_runs_on_spare_capacity),
        cmocka_unit_test(the_cheapest_are_kept_by_weight),
        cmocka_unit_test(what_runs_keeps_its_place),
        cmocka_unit_test(users_take_turns),
        cmocka_unit_test(what_runs_in_time_is_not_given_up),
        cmocka_unit_test(the_dearest_makes_room),
        cmocka_unit_test(a_promise_is_kept),
        cmocka_unit_test(what_is_kept_stays),
        cmocka_unit_test(what_cannot_be_stopped_shrinks_to_its_least),
        cmocka_unit_test(what_cannot_be_stopped_is_planned_around),
        cmocka_unit_test(what_best_effort_holds_is_of_its_reserve),
        cmocka_unit_test(tokens_bound_what_one_user_claims),
        cmocka_unit_test(beyond_tokens_nothing_is_promised),
        cmocka_unit_test(beyond_tokens_others_have_the_spare),
        cmocka_unit_test(growing_has_to_save_enough),
        cmocka_unit_test(best_effort_has_its_reserve),
        cmocka_unit_test(best_effort_ages),
        cmocka_unit_test(whatever_the_state),
        cmocka_unit_test(what_is_on_track_can_be_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
