/* planner/spare.c - capacity that the plan leaves free now, given where it gains most
 *
 * The score of a job's next level is the rate that a unit of capacity adds there, divided by the
 * rate that it adds where the job is planned (or at its smallest size): capacity times seconds
 * saved later for one used now.  A heap gives the best one; free capacity only shrinks, so a level
 * that does not fit once is never tried again.
 */
#include "planner/spare.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const double SCORE_AT_RISK = 0.9, SCORE_LATE = 0.05;
static const double SCORE_OVER = 0.5; /* beyond the owner's tokens: a deadline counts for nothing */
static const double STICKY = 2;       /* factor for a level that the job has: it needs no restart */
static const double RUN_ON = 3;       /* a job must run on for this many restarts after a change */
static const double SHORT = 3600;     /* seconds; of two equal jobs the shorter comes first */

struct candidate {
    struct plan_item *item;
    size_t level; /* the one on offer */
    double score;
};

struct heap {
    struct candidate *candidates;
    size_t count;
};

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    return strcmp(a->item->job->id, b->item->job->id) < 0;
}

static void heap_push(struct heap *heap, struct candidate candidate)
{
    size_t at = heap->count++;
    while (at > 0 && is_before(&candidate, &heap->candidates[(at - 1) / 2])) {
        heap->candidates[at] = heap->candidates[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->candidates[at] = candidate;
}

static struct candidate heap_pop(struct heap *heap)
{
    struct candidate top = heap->candidates[0], last = heap->candidates[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            is_before(&heap->candidates[child + 1], &heap->candidates[child]))
            child++;
        if (!is_before(&heap->candidates[child], &last))
            break;
        heap->candidates[at] = heap->candidates[child];
        at = child;
    }
    heap->candidates[at] = last;
    return top;
}

static double score_level(const struct plan_item *item, size_t level)
{
    const struct plan_job *job = item->job;
    const struct plan_level *levels = job->levels;
    size_t base = item->part == PART_PLANNED && !job->over ? item->share.cap : 0;
    double gained = level ? (levels[level].rate - levels[level - 1].rate) /
                                (levels[level].size - levels[level - 1].size)
                          : levels[0].rate / levels[0].size;
    double value = gained * levels[base].size / levels[base].rate;
    double shortness = 0.5 + 0.5 / (1 + job->work / levels[0].rate / SHORT);
    if (item->part == PART_DROPPED && !job->over)
        value *= SCORE_AT_RISK;
    else
        value *= shortness;
    if (job->over)
        value *= SCORE_OVER;
    if (item->part == PART_LATE)
        value *= SCORE_LATE;
    if (item->part == PART_BEST_EFFORT)
        value *= job->weight;
    if (levels[level].size <= job->size)
        value *= STICKY;
    return value;
}

/* Does growth save at least least_gain seconds?  Compares the largest level within reach with
 * the present or planned one, since single levels may be close to each other. */
static bool growth_saves(const struct plan_item *item, int reach)
{
    const struct plan_job *job = item->job;
    int has = item->part == PART_PLANNED ? item->share.size : 0;
    const struct plan_level *from = plan_level_at_most(job, job->size > has ? job->size : has);
    const struct plan_level *to = plan_level_at_most(job, reach);
    if (!from)
        from = &job->levels[0];
    return to > from && share_time_alone(job, from) - share_time_alone(job, to) >= job->least_gain;
}

/* Does a change to that level pay?  The job must run on long enough after it, and save enough.
 * Starting at the smallest level, and keeping the size, are not changes. */
static bool change_pays(const struct plan_item *item, size_t level, int free)
{
    const struct plan_job *job = item->job;
    const struct plan_level *to = &job->levels[level];
    if (to->size <= job->size)
        return true;
    if (job->size > 0 && job->work / to->rate <= RUN_ON * job->restart)
        return false;
    return job->least_gain <= 0 || (job->size == 0 && level == 0) ||
           growth_saves(item, job->give + free);
}

/* Push the job's next level, if it fits and pays. */
static void offer_level(struct heap *heap, struct plan_item *item, int free)
{
    const struct plan_job *job = item->job;
    if (item->part == PART_KEPT)
        return;
    size_t level = plan_next_level(job);
    if (level < job->level_count && job->levels[level].size - job->give <= free &&
        change_pays(item, level, free))
        heap_push(heap, (struct candidate){item, level, score_level(item, level)});
}

static int give_from(struct heap *heap, int free)
{
    while (heap->count > 0 && free > 0) {
        struct candidate best = heap_pop(heap);
        struct plan_job *job = best.item->job;
        int more = job->levels[best.level].size - job->give;
        if (more > free)
            continue;
        free -= more;
        job->give = job->levels[best.level].size;
        offer_level(heap, best.item, free);
    }
    heap->count = 0;
    return free;
}

void spare_raise(struct plan *plan, const struct plan_state *state, int lent)
{
    struct heap heap = {memory_allocate((plan->count + 1) * sizeof(*heap.candidates)), 0};
    int free_now = state->capacity - lent;
    for (size_t i = 0; i < plan->count; i++)
        free_now -= plan->items[i].job->give;
    for (size_t i = 0; i < plan->count && lent > 0; i++)
        if (plan->items[i].part == PART_BEST_EFFORT)
            offer_level(&heap, &plan->items[i], lent);
    free_now += give_from(&heap, lent);
    for (size_t i = 0; i < plan->count && free_now > 0; i++)
        offer_level(&heap, &plan->items[i], free_now);
    give_from(&heap, free_now);
    free(heap.candidates);
}
