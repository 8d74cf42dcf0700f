/* planner/plan.c - the planner's own policy: as many jobs as possible done by their deadlines */
#include "planner/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "planner/policy.h"
#include "planner/spare.h"

/* A job is to be done so much of the time from its arrival to its deadline before the deadline. */
static const double MARGIN = 0.01;
/* Of two that cost the same, the one with more time left finds a gap more easily. */
static const double PATIENCE = -0.2;
/* A job without a deadline that has waited for so long, or for so many times what it takes, is given
 * one, so many times what it takes from now. */
static const double AGE = 3600, AGE_TIMES = 10, AGE_DEADLINE = 3;

/* After so many refusals one after another, or so many segments looked at, those that are left, which
 * cost more, are only asked whether they fit into what is free. */
enum { MOST_REFUSALS = 8, MOST_EFFORT = 100000000 };

/* ---- who takes part ---- */

static int by_deadline(const void *a, const void *b)
{
    const struct plan_item *first = a, *second = b;
    bool early = first->part == PART_PLANNED, late = second->part == PART_PLANNED;
    if (early != late)
        return early ? -1 : 1;
    if (early && first->latest != second->latest)
        return first->latest < second->latest ? -1 : 1;
    return strcmp(first->job->id, second->job->id);
}

/* Whether the job would be done by then if it were alone. */
static bool can(const struct plan_job *job, const struct plan_level *fastest, double now,
                double latest)
{
    return fastest && now + share_time_alone(job, fastest) <= latest;
}

static void sort_deadline(struct plan_item *item, const struct plan_state *state,
                          const struct plan_wishes *wishes, const struct plan_level *fastest)
{
    struct plan_job *job = item->job;
    item->part = PART_PLANNED;
    job->standing = STANDING_ON_TRACK;
    item->latest = job->deadline - state->guard - wishes->margin * (job->deadline - job->arrival);
    if (!can(job, fastest, state->now, item->latest))
        item->latest = job->deadline; /* margins are wishes */
    if (!can(job, fastest, state->now, item->latest)) {
        item->part = PART_LATE;
        job->standing = state->now >= job->deadline ? STANDING_LATE : STANDING_CANNOT_MEET;
    }
}

static void sort_best_effort(struct plan_item *item, const struct plan_state *state,
                             const struct plan_wishes *wishes, const struct plan_level *fastest)
{
    struct plan_job *job = item->job;
    double alone = share_time_alone(job, &job->levels[0]);
    double age = AGE_TIMES * alone > AGE ? AGE_TIMES * alone : AGE;
    item->part = PART_BEST_EFFORT;
    job->standing = STANDING_BEST_EFFORT;
    if (wishes->ageing && state->now - job->arrival > age && fastest) {
        item->part = PART_PLANNED;
        item->latest = state->now + AGE_DEADLINE * alone;
    }
}

/* A job that keeps its size is predicted as it runs, and nothing is decided about it. */
static void sort_kept(struct plan_item *item, const struct plan_state *state)
{
    struct plan_job *job = item->job;
    const struct plan_level *level = plan_level_at_most(job, job->size);
    item->part = PART_KEPT;
    job->give = job->size;
    if (level)
        job->finish = state->now + job->restart_left + job->work / level->rate;
    job->standing = !isfinite(job->deadline)       ? STANDING_BEST_EFFORT
                    : state->now >= job->deadline  ? STANDING_LATE
                    : job->finish <= job->deadline ? STANDING_ON_TRACK
                                                   : STANDING_AT_RISK;
}

/* What the job costs at the cheapest level with which it is done in time when it is alone. */
static double cost_alone(const struct plan_item *item, double now)
{
    const struct plan_job *job = item->job;
    double patience = pow(item->latest - now, PATIENCE);
    for (size_t i = 0; i < job->level_count; i++) {
        double time = share_time_alone(job, &job->levels[i]);
        if (now + time <= item->latest)
            return time * job->levels[i].size * patience / job->weight;
    }
    return (double)INFINITY;
}

void plan_begin(struct plan *plan, const struct plan_state *state, int capacity,
                const struct plan_wishes *wishes)
{
    *plan = (struct plan){.items = memory_allocate((state->job_count + 1) * sizeof(*plan->items)),
                          .count = state->job_count};
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_item *item = &plan->items[i];
        item->job = state->jobs[i];
        item->job->give = 0;
        item->job->finish = (double)INFINITY;
        const struct plan_level *fastest = plan_level_at_most(item->job, capacity);
        if (item->job->kept && item->job->size > 0)
            sort_kept(item, state);
        else if (isfinite(item->job->deadline))
            sort_deadline(item, state, wishes, fastest);
        else
            sort_best_effort(item, state, wishes, fastest);
        if (item->part == PART_PLANNED) {
            item->cost = cost_alone(item, state->now);
            plan->candidates++;
        }
    }
    qsort(plan->items, plan->count, sizeof(*plan->items), by_deadline);
    plan_clear(plan, state, capacity);
}

void plan_clear(struct plan *plan, const struct plan_state *state, int capacity)
{
    timeline_reset(&plan->timeline, state->now, capacity);
    for (size_t i = plan->candidates; i < plan->count; i++) {
        const struct plan_item *item = &plan->items[i];
        if (item->part == PART_KEPT)
            timeline_take(&plan->timeline, state->now, item->job->finish, item->job->give);
    }
}

void plan_end(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        share_free(&plan->items[i].share);
    free(plan->items);
    timeline_free(&plan->timeline);
}

/* ---- the set ---- */

/* Jobs by cost, while they are taken into the set.  `members` tells, for the plan's candidates, who is
 * in it; those have a share. */
struct selection {
    struct plan *plan;
    size_t *order;              /* of candidates; indexes */
    bool *members;
    size_t refusals;            /* one after another */
    size_t effort;              /* segments looked at so far, about */
};

static bool plan_item(struct selection *selection, struct plan_item *item)
{
    struct timeline *timeline = &selection->plan->timeline;
    selection->effort += timeline->count;
    return share_take(&item->share, timeline, item->job, item->latest);
}

/* Plan all members from `first` on anew.  False when one finds no share: then those behind it have
 * none either. */
static bool plan_members(struct selection *selection, size_t first)
{
    struct plan *plan = selection->plan;
    for (size_t i = first; i < plan->candidates; i++)
        share_release(&plan->items[i].share, &plan->timeline);
    for (size_t i = first; i < plan->candidates; i++)
        if (selection->members[i] && !plan_item(selection, &plan->items[i]))
            return false;
    return true;
}

/* Take in those of order[from..to) that fit into what the plan leaves free. */
static void squeeze_in(struct selection *selection, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        size_t index = selection->order[i];
        selection->members[index] = plan_item(selection, &selection->plan->items[index]);
    }
}

/* Take in as many of order[from..to) as fit: all at once, or else the halves one after the other.
 * Nobody is asked twice, so what is found is what asking one by one finds. */
static void take_in(struct selection *selection, size_t from, size_t to)
{
    const size_t *order = selection->order;
    size_t first = order[from];
    if (selection->effort > MOST_EFFORT || selection->refusals >= MOST_REFUSALS) {
        squeeze_in(selection, from, to);
        return;
    }
    for (size_t i = from; i < to; i++) {
        selection->members[order[i]] = true;
        first = order[i] < first ? order[i] : first;
    }
    if (plan_members(selection, first)) {
        selection->refusals = 0;
        return;
    }
    for (size_t i = from; i < to; i++)
        selection->members[order[i]] = false;
    plan_members(selection, first);
    if (to - from == 1) {
        selection->refusals++;
        return;
    }
    size_t middle = from + (to - from) / 2;
    take_in(selection, from, middle);
    take_in(selection, middle, to);
}

/* qsort has no room for a context: who is compared carries its cost. */
struct priced {
    double cost;
    const char *id;
    size_t index;
};

/* Firm jobs that were promised come before all others, at no cost. */
static int by_cost(const void *a, const void *b)
{
    const struct priced *first = a, *second = b;
    if (first->cost != second->cost)
        return first->cost < second->cost ? -1 : 1;
    return strcmp(first->id, second->id);
}

static void choose(struct plan *plan)
{
    size_t count = plan->candidates;
    struct priced *prices = memory_allocate((count + 1) * sizeof(*prices));
    struct selection selection = {.plan = plan,
                                  .order = memory_allocate((count + 1) * sizeof(size_t)),
                                  .members = memory_allocate(count + 1)};
    for (size_t i = 0; i < count; i++) {
        const struct plan_item *item = &plan->items[i];
        prices[i] = (struct priced){item->job->promised ? 0 : item->cost, item->job->id, i};
    }
    qsort(prices, count, sizeof(*prices), by_cost);
    for (size_t i = 0; i < count; i++)
        selection.order[i] = prices[i].index;
    if (count > 0)
        take_in(&selection, 0, count);
    for (size_t i = 0; i < count; i++)
        plan->items[i].part = selection.members[i] ? PART_PLANNED : PART_DROPPED;
    free(prices);
    free(selection.order);
    free(selection.members);
}

/* ---- what follows from it ---- */

static void tell(struct plan *plan, struct plan_state *state)
{
    for (size_t i = 0; i < plan->candidates; i++) {
        const struct plan_item *item = &plan->items[i];
        struct plan_job *job = item->job;
        if (item->part == PART_DROPPED) {
            job->standing = isfinite(job->deadline) ? STANDING_AT_RISK : STANDING_BEST_EFFORT;
            continue;
        }
        job->finish = item->share.finish;
        job->give = item->share.size;
        job->promised = job->firm;
        if (item->share.change < state->next)
            state->next = item->share.change;
    }
}

/* How much of the reserve best effort can use now, beside what kept jobs have.  No job that needs all
 * of the cluster waits for ever because a part of it is lent. */
static int lent_first(const struct plan_state *state)
{
    int reserve = (int)(state->reserve * state->capacity), wanted = 0, largest = 0, kept = 0;
    for (size_t i = 0; i < state->job_count; i++) {
        const struct plan_job *job = state->jobs[i];
        int least = job->levels[0].size, room = reserve - wanted;
        if (job->kept && job->size > 0) {
            kept += job->size;
            continue;
        }
        if (!isfinite(job->deadline))
            wanted += least < room ? least : room;
        if (least > largest && least <= state->capacity)
            largest = least;
    }
    int most = state->capacity - (kept > largest ? kept : largest);
    return wanted < most ? wanted : most > 0 ? most : 0;
}

void policy_ours(struct plan_state *state)
{
    const struct plan_wishes wishes = {.margin = MARGIN, .ageing = true};
    struct plan plan;
    int lent = lent_first(state);
    state->next = (double)INFINITY;
    plan_begin(&plan, state, state->capacity - lent, &wishes);
    choose(&plan);
    tell(&plan, state);
    spare_give(&plan, state, lent);
    plan_end(&plan);
}
