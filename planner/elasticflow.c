/* planner/elasticflow.c - ElasticFlow's policy, from its published code
 *
 * Gu et al., "ElasticFlow: An Elastic Serverless Training Platform for Distributed Deep Learning",
 * ASPLOS 2023.  Each admitted job has its minimum satisfactory share, found backward from its
 * deadline and used forward; a job that would break one is declined for good.
 *
 * The differences favour ElasticFlow.  Its code declines all jobs that arrive together when one
 * does not fit; here they are considered one after another.  It declines every new job while any
 * admitted job misses its deadline in the plan, as happens when restarts cost more than predicted;
 * here only jobs that add a miss.  Declined jobs run on capacity that no other job wants, so that
 * completion times cover all jobs.  When thousands arrive together, those left after MOST_EFFORT of
 * planning are admitted if they fit into what the plan leaves free.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "planner/plan.h"
#include "planner/policy.h"

/* About how many segments are looked at for jobs that arrive together. */
enum { MOST_EFFORT = 50000000 };

/* The level of a job at a moment; before `point` its cap is lower. */
static const struct plan_level *level_at(const struct plan_job *job, size_t cap, int free)
{
    int most = job->levels[cap].size < free ? job->levels[cap].size : free;
    return plan_level_at_most(job, most);
}

/* The start of the latest segment from which the cap is enough; NAN when it is not enough even
 * from now on.  ElasticFlow's code also uses whole segments, so the job has the cap a little
 * early. */
static double latest_start(const struct timeline *timeline, const struct plan_job *job, size_t cap,
                           double latest, double work)
{
    for (size_t i = timeline->count; i-- > 0;) {
        const struct timeline_segment *segment = &timeline->segments[i];
        double end = i + 1 < timeline->count ? segment[1].start : latest;
        const struct plan_level *level = level_at(job, cap, segment->free);
        if (end > latest)
            end = latest;
        if (end <= segment->start || !level)
            continue;
        if (level->rate * (end - segment->start) >= work)
            return segment->start;
        work -= level->rate * (end - segment->start);
    }
    return (double)NAN;
}

static void add_piece(struct share *share, struct timeline *timeline, double from, double to,
                      int size)
{
    share_append(share, &(struct share_piece){from, to, size});
    timeline_take(timeline, from, to, size);
}

/* Use the lower cap before `point` and the higher one from it on, until the work is done. */
static void use_caps(struct share *share, struct timeline *timeline, const struct plan_job *job,
                     size_t cap, double point, double work)
{
    struct timeline before = {0};
    timeline_copy(&before, timeline);
    share->size = 0;
    share->cap = cap;
    share->change = (double)INFINITY;
    for (size_t i = 0; i < before.count && work > 0; i++) {
        const struct timeline_segment *segment = &before.segments[i];
        double end = i + 1 < before.count ? segment[1].start : (double)INFINITY;
        double from = segment->start;
        while (from < end && work > 0) {
            bool early = from < point;
            double to = early && point < end ? point : end;
            const struct plan_level *level =
                early && cap == 0 ? NULL : level_at(job, early ? cap - 1 : cap, segment->free);
            if (level) {
                if (level->rate * (to - from) >= work)
                    to = from + work / level->rate;
                add_piece(share, timeline, from, to, level->size);
                work = to == from + work / level->rate ? 0 : work - level->rate * (to - from);
                share->finish = to;
                if (from == before.segments[0].start)
                    share->size = level->size;
            }
            if (to < share->change)
                share->change = to;
            from = to;
        }
    }
    timeline_free(&before);
}

static bool plan_one(struct plan_item *item, struct timeline *timeline)
{
    const struct plan_job *job = item->job;
    double restart = job->size > 0 ? job->restart_left : job->restart;
    double latest = item->latest - restart;
    for (size_t cap = 0; cap < job->level_count; cap++) {
        double point = latest_start(timeline, job, cap, latest, job->work);
        if (isnan(point))
            continue;
        use_caps(&item->share, timeline, job, cap, point, job->work);
        return true;
    }
    return false;
}

/* Plan all admitted jobs, and the candidate, in the order of their deadlines.  A job without a
 * satisfactory share gets the largest there is, until it is done.  Returns how many such jobs
 * there are, or `most` + 1 as soon as there are more; the plan is then incomplete. */
static size_t plan_all(struct plan *plan, const struct plan_state *state,
                       const struct plan_item *candidate, size_t most, size_t *effort)
{
    size_t misses = 0;
    plan_clear(plan, state, state->capacity);
    for (size_t i = 0; i < plan->candidates && misses <= most; i++) {
        struct plan_item *item = &plan->items[i];
        item->share.count = 0;
        item->share.size = 0;
        if (!item->job->admitted && item != candidate)
            continue;
        *effort += plan->timeline.count;
        if (plan_one(item, &plan->timeline))
            continue;
        share_take_whenever(&item->share, &plan->timeline, item->job, item->job->level_count - 1);
        misses++;
    }
    return misses;
}

static int by_arrival(const void *a, const void *b)
{
    const struct plan_item *first = *(const struct plan_item *const *)a;
    const struct plan_item *second = *(const struct plan_item *const *)b;
    if (first->job->arrival != second->job->arrival)
        return first->job->arrival < second->job->arrival ? -1 : 1;
    return strcmp(first->job->id, second->job->id);
}

static bool is_new(const struct plan_item *item)
{
    const struct plan_job *job = item->job;
    return item->part != PART_KEPT && isfinite(job->deadline) && !job->admitted && !job->refused;
}

/* Refuse new jobs that are not candidates: they can no longer meet their deadlines. */
static void refuse_hopeless_jobs(struct plan *plan)
{
    for (size_t i = plan->candidates; i < plan->count; i++)
        if (is_new(&plan->items[i]))
            plan->items[i].job->refused = true;
}

/* The undecided candidates, in the order of their arrival. */
static size_t find_new_jobs(const struct plan *plan, struct plan_item **found)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->candidates; i++)
        if (is_new(&plan->items[i]))
            found[count++] = &plan->items[i];
    qsort(found, count, sizeof(struct plan_item *), by_arrival);
    return count;
}

static void answer_request(struct plan_item *item, bool admitted)
{
    item->job->admitted = admitted;
    item->job->refused = !admitted;
}

static void admit_new_jobs(struct plan *plan, const struct plan_state *state)
{
    struct plan_item **fresh = memory_allocate((plan->count + 1) * sizeof(struct plan_item *));
    refuse_hopeless_jobs(plan);
    size_t count = find_new_jobs(plan, fresh), effort = 0, i = 0;
    size_t misses = count > 0 ? plan_all(plan, state, NULL, SIZE_MAX - 1, &effort) : 0;
    for (; i < count && effort < MOST_EFFORT; i++)
        answer_request(fresh[i], plan_all(plan, state, fresh[i], misses, &effort) <= misses);
    if (i < count)
        plan_all(plan, state, NULL, SIZE_MAX - 1, &effort);
    for (; i < count; i++)
        answer_request(fresh[i], plan_one(fresh[i], &plan->timeline));
    free(fresh);
}

/* How much the next level adds to the job's capacity times seconds, per unit of capacity; less is
 * better, and a job that has nothing comes first. */
static double marginal_cost(const struct plan_job *job, size_t level)
{
    const struct plan_level *to = &job->levels[level];
    if (level == 0)
        return -(double)INFINITY;
    double with = job->work / to->rate * to->size;
    double without = job->work / to[-1].rate * to[-1].size;
    return (with - without) / (to->size - to[-1].size);
}

/* Give spare capacity to admitted jobs first (pass 0), then to jobs without a deadline and to
 * declined ones. */
static int give_spare(struct plan *plan, int free_now, int pass)
{
    for (;;) {
        struct plan_job *best = NULL;
        double least = 0;
        for (size_t i = 0; i < plan->count && free_now > 0; i++) {
            struct plan_job *job = plan->items[i].job;
            size_t level = plan_next_level(job);
            if (plan->items[i].part == PART_KEPT || (pass == 0) != (bool)job->admitted ||
                level == job->level_count || job->levels[level].size - job->give > free_now)
                continue;
            double score = marginal_cost(job, level);
            if (!best || score < least) {
                best = job;
                least = score;
            }
        }
        if (!best)
            return free_now;
        int size = best->levels[plan_next_level(best)].size;
        free_now -= size - best->give;
        best->give = size;
    }
}

void policy_elasticflow(struct plan_state *state)
{
    struct plan plan;
    size_t effort = 0;
    int free_now = state->capacity;
    plan_begin(&plan, state, state->capacity, &(struct plan_targets){0});
    plan_sort_others(&plan);
    admit_new_jobs(&plan, state);
    plan_all(&plan, state, NULL, SIZE_MAX - 1, &effort);
    state->next = (double)INFINITY;
    for (size_t i = plan.candidates; i < plan.count; i++)
        free_now -= plan.items[i].job->give;
    for (size_t i = 0; i < plan.candidates; i++) {
        struct plan_item *item = &plan.items[i];
        if (!item->job->admitted || item->share.count == 0)
            continue;
        item->job->give = item->share.size;
        item->job->finish = item->share.finish;
        free_now -= item->share.size;
        if (item->share.change < state->next)
            state->next = item->share.change;
    }
    free_now = give_spare(&plan, free_now, 0);
    give_spare(&plan, free_now, 1);
    plan_end(&plan);
}
