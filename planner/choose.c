/* planner/choose.c - chooses the jobs that are planned to meet their deadlines */
#include "planner/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* After looking at this many segments, a job that does not fit is dropped itself, instead of the
 * most expensive one. */
enum { MOST_EFFORT = 20000000 };

/* ---- which jobs are preferred ---- */

/* qsort passes no context, so each compared item carries its cost. */
struct priced {
    bool over;
    double cost;
    const char *id;
    size_t index;
};

static int by_cost(const void *a, const void *b)
{
    const struct priced *first = a, *second = b;
    if (first->over != second->over)
        return first->over ? 1 : -1;
    if (first->cost != second->cost)
        return first->cost < second->cost ? -1 : 1;
    return strcmp(first->id, second->id);
}

/* Find the jobs beyond their users' tokens.  Tokens pay for promised jobs first, then for the
 * cheapest.  A promise does not pay for growth: a job that grew beyond the tokens loses it. */
static void pay_with_tokens(const struct plan *plan, const struct plan_state *state,
                            struct priced *prices)
{
    double *left = memory_allocate((state->token_count + 1) * sizeof(*left));
    for (size_t i = 0; i < state->token_count; i++)
        left[i] = state->tokens[i];
    for (size_t i = 0; i < plan->candidates; i++) {
        const struct plan_item *item = &plan->items[prices[i].index];
        struct plan_job *job = item->job;
        double use = job->weight > 1 ? item->use * job->weight : item->use;
        if (job->owner < 0 || (size_t)job->owner >= state->token_count)
            continue;
        job->over = prices[i].over = use > left[job->owner];
        if (!job->over)
            left[job->owner] -= use;
    }
    free(left);
}

/* The cost of a job, lower for one that runs already: predictions for similar jobs differ a
 * little, and such a difference must not make them change places. */
static double price_of(const struct plan_item *item, const struct plan_state *state)
{
    bool sticks = item->job->size > 0 && state->sticky > 1;
    return item->job->promised ? 0 : sticks ? item->cost / state->sticky : item->cost;
}

/* Users take turns: a user's second job counts as if it cost twice as much, the third three times
 * ... Otherwise one user's many jobs would come before another's only one whenever they are a
 * little cheaper. */
static void take_turns(const struct plan *plan, const struct plan_state *state,
                       struct priced *prices)
{
    size_t *jobs = memory_allocate((state->token_count + 1) * sizeof(*jobs));
    for (size_t i = 0; i < plan->candidates; i++) {
        int owner = plan->items[prices[i].index].job->owner;
        if (owner >= 0 && (size_t)owner < state->token_count)
            prices[i].cost *= (double)++jobs[owner];
    }
    free(jobs);
}

/* The candidates in order of preference: promised firm jobs, at no cost; the others by cost;
 * then all jobs beyond their owners' tokens. */
static struct priced *put_in_order(const struct plan *plan, const struct plan_state *state)
{
    size_t count = plan->candidates;
    struct priced *prices = memory_allocate((count + 1) * sizeof(*prices));
    for (size_t i = 0; i < count; i++) {
        const struct plan_item *item = &plan->items[i];
        prices[i] = (struct priced){.cost = price_of(item, state), .id = item->job->id, .index = i};
    }
    qsort(prices, count, sizeof(*prices), by_cost);
    if (state->tokens) {
        pay_with_tokens(plan, state, prices);
        take_turns(plan, state, prices);
        qsort(prices, count, sizeof(*prices), by_cost);
    }
    return prices;
}

/* ---- which jobs are dropped ---- */

struct selection {
    struct plan *plan;
    size_t *rank;  /* of each candidate: how many are preferred to it */
    size_t effort; /* segments looked at so far, about */
};

/* A heap of ranks, the largest on top. */
struct heap {
    size_t *ranks;
    size_t count;
};

static void heap_push(struct heap *heap, size_t rank)
{
    size_t at = heap->count++;
    for (; at > 0 && heap->ranks[(at - 1) / 2] < rank; at = (at - 1) / 2)
        heap->ranks[at] = heap->ranks[(at - 1) / 2];
    heap->ranks[at] = rank;
}

static size_t heap_pop(struct heap *heap)
{
    size_t top = heap->ranks[0], last = heap->ranks[--heap->count], at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->ranks[child + 1] > heap->ranks[child])
            child++;
        if (heap->ranks[child] <= last)
            break;
        heap->ranks[at] = heap->ranks[child];
    }
    heap->ranks[at] = last;
    return top;
}

/* The free capacity times seconds until a time; times must increase. */
struct area {
    const struct timeline *timeline;
    size_t segment;
    double until, area;
};

static double area_until(struct area *area, double until)
{
    const struct timeline_segment *segments = area->timeline->segments;
    while (area->until < until) {
        size_t next = area->segment + 1;
        bool last = next == area->timeline->count || segments[next].start > until;
        double end = last ? until : segments[next].start;
        int free = segments[area->segment].free;
        area->area += free > 0 ? free * (end - area->until) : 0;
        area->until = end;
        area->segment += !last;
    }
    return area->area;
}

/* The least part of the free capacity that the item needs.  The free capacity does not include
 * its floor. */
static double capacity_needed(const struct plan_item *item, double now)
{
    double until = item->floor_until < item->latest ? item->floor_until : item->latest;
    double floor = item->floor_until > 0 ? (until - now) * item->job->levels[0].size : 0;
    return item->use > floor ? item->use - floor : 0;
}

/* Drop the most expensive jobs, without planning any, where the jobs due by a deadline need more
 * than the capacity that is free until then.  If the last of them is dropped in the end, no
 * other one is dropped for it. */
static void drop_by_area(struct selection *selection, const struct priced *prices)
{
    struct plan *plan = selection->plan;
    struct heap heap = {memory_allocate((plan->candidates + 1) * sizeof(size_t)), 0};
    size_t *victims = memory_allocate((plan->candidates + 1) * sizeof(size_t));
    double now = plan->timeline.segments[0].start, needed = 0;
    struct area area = {.timeline = &plan->timeline, .until = now};
    for (size_t i = 0; i < plan->candidates; i++) {
        double before = needed, most = area_until(&area, plan->items[i].latest);
        size_t count = 0;
        heap_push(&heap, selection->rank[i]);
        needed += capacity_needed(&plan->items[i], now);
        while (needed > most && heap.count > 0) {
            victims[count++] = heap_pop(&heap);
            needed -= capacity_needed(&plan->items[prices[victims[count - 1]].index], now);
            if (victims[count - 1] != selection->rank[i])
                continue;
            plan->items[i].part = PART_DROPPED;
            needed = before;
            while (--count > 0)
                heap_push(&heap, victims[count - 1]);
            break;
        }
        while (count > 0)
            plan->items[prices[victims[--count]].index].part = PART_DROPPED;
    }
    free(victims);
    free(heap.ranks);
}

static bool plan_item(struct selection *selection, struct plan_item *item)
{
    selection->effort += selection->plan->timeline.count;
    return plan_take(selection->plan, item);
}

/* The least preferred job up to `last` that is not dropped. */
static size_t find_dearest(const struct selection *selection, size_t last)
{
    size_t dearest = last;
    for (size_t i = 0; i < last; i++)
        if (selection->plan->items[i].part == PART_PLANNED &&
            selection->rank[i] > selection->rank[dearest])
            dearest = i;
    return dearest;
}

static void plan_or_drop(struct selection *selection)
{
    struct plan *plan = selection->plan;
    size_t i = 0;
    while (i < plan->candidates) {
        if (plan->items[i].part != PART_PLANNED || plan_item(selection, &plan->items[i])) {
            i++;
            continue;
        }
        size_t dropped = selection->effort > MOST_EFFORT ? i : find_dearest(selection, i);
        plan->items[dropped].part = PART_DROPPED;
        while (i > dropped)
            plan_release(plan, &plan->items[--i]);
    }
}

/* Plan the dropped jobs that fit into the remaining capacity, the cheapest first. */
static void squeeze_in(struct selection *selection, const struct priced *prices)
{
    struct plan *plan = selection->plan;
    double now = plan->timeline.segments[0].start;
    double *areas = memory_allocate((plan->candidates + 1) * sizeof(*areas));
    struct area area = {.timeline = &plan->timeline, .until = now};
    for (size_t i = 0; i < plan->candidates; i++)
        areas[i] = area_until(&area, plan->items[i].latest);
    for (size_t i = 0; i < plan->candidates; i++) {
        struct plan_item *item = &plan->items[prices[i].index];
        if (item->part == PART_DROPPED && capacity_needed(item, now) <= areas[prices[i].index] &&
            plan_item(selection, item))
            item->part = PART_PLANNED;
    }
    free(areas);
}

void choose(struct plan *plan, const struct plan_state *state)
{
    size_t count = plan->candidates;
    struct priced *prices = put_in_order(plan, state);
    struct selection selection = {.plan = plan,
                                  .rank = memory_allocate((count + 1) * sizeof(size_t))};
    for (size_t i = 0; i < count; i++)
        selection.rank[prices[i].index] = i;
    drop_by_area(&selection, prices);
    plan_or_drop(&selection);
    squeeze_in(&selection, prices);
    free(selection.rank);
    free(prices);
}
