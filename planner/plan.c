/* planner/plan.c - which jobs take part in a plan, and the share of each */
#include "planner/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
/* Exponent of the time left in a cost: of two jobs with equal cost, the one with more time finds
 * a gap more easily, and is preferred. */
static const double PATIENCE = -0.2;
/* Aging: a job without a deadline that has waited for AGE seconds, or AGE_TIMES its run time,
 * gets a deadline AGE_DEADLINE times its run time from now. */
static const double AGE = 3600, AGE_TIMES = 10, AGE_DEADLINE = 3;

/* ---- which jobs take part ---- */

/* Keys for sorting, since items are large. */
struct key {
    double latest;
    const char *id;
    size_t index;
};

static int by_latest(const void *a, const void *b)
{
    const struct key *first = a, *second = b;
    if (first->latest != second->latest)
        return first->latest < second->latest ? -1 : 1;
    return strcmp(first->id, second->id);
}

/* Sort the candidates by deadline. */
static void sort_candidates(struct plan *plan)
{
    size_t count = plan->candidates;
    struct key *keys = memory_allocate((count + 1) * sizeof(*keys));
    struct plan_item *items = memory_allocate((count + 1) * sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        items[i] = plan->items[i];
        keys[i] = (struct key){items[i].latest, items[i].job->id, i};
    }
    qsort(keys, count, sizeof(*keys), by_latest);
    for (size_t i = 0; i < count; i++)
        plan->items[i] = items[keys[i].index];
    free(items);
    free(keys);
}

static int by_id(const void *a, const void *b)
{
    const struct plan_item *first = a, *second = b;
    return strcmp(first->job->id, second->job->id);
}

void plan_sort_others(struct plan *plan)
{
    qsort(plan->items + plan->candidates, plan->count - plan->candidates, sizeof(*plan->items),
          by_id);
}

/* Would the job finish by `latest` on an empty cluster?  Tried at its fastest level, and at its
 * present one, which needs no restart. */
static bool can_meet(const struct plan_job *job, const struct plan_level *fastest, double now,
                     double latest)
{
    if (!fastest)
        return false;
    if (now + share_time_alone(job, fastest) <= latest)
        return true;
    const struct plan_level *level = job->size > 0 ? plan_level_at_most(job, job->size) : NULL;
    return level && level < fastest && now + share_time_alone(job, level) <= latest;
}

static void sort_deadline(struct plan_item *item, const struct plan_state *state,
                          const struct plan_targets *targets, const struct plan_level *fastest)
{
    struct plan_job *job = item->job;
    if (state->now >= job->deadline) {
        item->part = PART_LATE;
        job->deadline_status = DEADLINE_LATE;
        return;
    }
    item->part = PART_PLANNED;
    job->deadline_status = DEADLINE_ON_TRACK;
    item->latest = job->deadline - state->guard - targets->margin * (job->deadline - job->arrival);
    if (can_meet(job, fastest, state->now, item->latest))
        return;
    item->latest = job->deadline; /* without margins, which are only targets */
    if (!can_meet(job, fastest, state->now, item->latest)) {
        item->part = PART_LATE;
        job->deadline_status = DEADLINE_CANNOT_MEET;
    }
}

static void sort_best_effort(struct plan_item *item, const struct plan_state *state,
                             const struct plan_targets *targets, const struct plan_level *fastest)
{
    struct plan_job *job = item->job;
    double alone = share_time_alone(job, &job->levels[0]);
    double age = AGE_TIMES * alone > AGE ? AGE_TIMES * alone : AGE;
    item->part = PART_BEST_EFFORT;
    job->deadline_status = DEADLINE_BEST_EFFORT;
    if (targets->ageing && state->now - job->arrival > age && fastest) {
        item->part = PART_PLANNED;
        item->latest = state->now + AGE_DEADLINE * alone;
    }
}

/* Predict a job that keeps its size at that size; the plan does not change it. */
static void sort_kept(struct plan_item *item, const struct plan_state *state)
{
    struct plan_job *job = item->job;
    const struct plan_level *level = plan_level_at_most(job, job->size);
    item->part = PART_KEPT;
    job->give = job->size;
    if (level)
        job->finish = state->now + job->restart_left + job->work / level->rate;
    job->deadline_status = !isfinite(job->deadline)       ? DEADLINE_BEST_EFFORT
                           : state->now >= job->deadline  ? DEADLINE_LATE
                           : job->finish <= job->deadline ? DEADLINE_ON_TRACK
                                                          : DEADLINE_AT_RISK;
}

static bool keeps_size(const struct plan_job *job, const struct plan_targets *targets)
{
    return job->size > 0 && (job->kept || (job->unstoppable && !targets->floors));
}

/* Set the floor of an unstoppable job that runs: its smallest level until it is done. */
static void find_floor(struct plan_item *item, double now)
{
    const struct plan_job *job = item->job;
    if (job->unstoppable && job->size > 0)
        item->floor_until = now + share_time_alone(job, &job->levels[0]);
}

/* Set the job's cost: that of the cheapest level at which it meets its deadline alone. */
static void find_cost(struct plan_item *item, double now)
{
    const struct plan_job *job = item->job;
    item->use = item->cost = (double)INFINITY;
    for (size_t i = 0; i < job->level_count; i++) {
        double time = share_time_alone(job, &job->levels[i]);
        if (now + time <= item->latest) {
            item->use = time * job->levels[i].size;
            item->cost = item->use * pow(item->latest - now, PATIENCE) / job->weight;
            return;
        }
    }
}

static void sort_job(struct plan_item *item, const struct plan_state *state, int capacity,
                     const struct plan_targets *targets)
{
    struct plan_job *job = item->job;
    const struct plan_level *fastest = plan_level_at_most(job, capacity);
    job->give = 0;
    job->finish = (double)INFINITY;
    job->over = false;
    if (keeps_size(job, targets))
        sort_kept(item, state);
    else if (isfinite(job->deadline))
        sort_deadline(item, state, targets, fastest);
    else
        sort_best_effort(item, state, targets, fastest);
    if (item->part != PART_KEPT)
        find_floor(item, state->now);
    if (item->part == PART_PLANNED)
        find_cost(item, state->now);
}

void plan_begin(struct plan *plan, const struct plan_state *state, int capacity,
                const struct plan_targets *targets)
{
    size_t others = state->job_count;
    *plan = (struct plan){.items = memory_allocate((others + 1) * sizeof(*plan->items)),
                          .count = others};
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_item item = {.job = state->jobs[i]};
        sort_job(&item, state, capacity, targets);
        if (item.part == PART_PLANNED)
            plan->items[plan->candidates++] = item;
        else
            plan->items[--others] = item;
    }
    sort_candidates(plan);
    plan_clear(plan, state, capacity);
}

static void hold_floor(struct plan *plan, const struct plan_item *item, int times)
{
    if (item->floor_until > 0)
        timeline_take(&plan->timeline, plan->timeline.segments[0].start, item->floor_until,
                      times * item->job->levels[0].size);
}

void plan_clear(struct plan *plan, const struct plan_state *state, int capacity)
{
    timeline_reset(&plan->timeline, state->now, capacity);
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_item *item = &plan->items[i];
        if (item->part == PART_KEPT)
            timeline_take(&plan->timeline, state->now, item->job->finish, item->job->give);
        else
            hold_floor(plan, item, 1);
    }
}

bool plan_take(struct plan *plan, struct plan_item *item)
{
    hold_floor(plan, item, -1);
    if (share_take(&item->share, &plan->timeline, item->job, item->latest))
        return true;
    hold_floor(plan, item, 1);
    return false;
}

void plan_release(struct plan *plan, struct plan_item *item)
{
    if (item->share.count == 0)
        return;
    share_release(&item->share, &plan->timeline);
    hold_floor(plan, item, 1);
}

void plan_end(struct plan *plan)
{
    for (size_t i = 0; i < plan->candidates; i++)
        share_free(&plan->items[i].share);
    free(plan->items);
    timeline_free(&plan->timeline);
}
