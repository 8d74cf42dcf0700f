/* planner/policy_max_met.c - the planner's own policy: the plan, and what follows from it */
#include <math.h>

#include "planner/choose.h"
#include "planner/policy.h"
#include "planner/spare.h"

/* Safety margin, as a fraction of (deadline - arrival). */
static const double MARGIN = 0.01;

static void tell_jobs(struct plan *plan, struct plan_state *state)
{
    for (size_t i = 0; i < plan->candidates; i++) {
        const struct plan_item *item = &plan->items[i];
        struct plan_job *job = item->job;
        if (item->part == PART_DROPPED) {
            job->deadline_status =
                isfinite(job->deadline) ? DEADLINE_AT_RISK : DEADLINE_BEST_EFFORT;
            continue;
        }
        job->finish = item->share.finish;
        job->give = item->share.size;
        job->promised = job->firm && (job->promised || !job->over);
        if (item->share.change < state->next)
            state->next = item->share.change;
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_job *job = plan->items[i].job;
        if (plan->items[i].floor_until > 0 && job->give < job->levels[0].size)
            job->give = job->levels[0].size;
    }
}

/* The size that the job keeps regardless of the plan. */
static int size_held(const struct plan_job *job)
{
    if (job->size == 0)
        return 0;
    return job->kept ? job->size : job->unstoppable ? job->levels[0].size : 0;
}

/* How much of the reserve best effort can use now, besides what it holds already.  A job that needs
 * the whole cluster does not wait for ever because part of it is lent. */
static int lent_first(const struct plan_state *state)
{
    double reserve = floor(state->reserve * state->capacity), wanted = 0, kept = 0, largest = 0;
    for (size_t i = 0; i < state->job_count; i++) {
        const struct plan_job *job = state->jobs[i];
        int least = job->levels[0].size, has = size_held(job);
        kept += has;
        if (!isfinite(job->deadline) && has > 0)
            reserve -= has;
        else if (!isfinite(job->deadline))
            wanted += least;
        if (has == 0 && least > largest && least <= state->capacity)
            largest = least;
    }
    double most = state->capacity - (kept > largest ? kept : largest);
    double lent = fmin(fmin(wanted, reserve), most);
    return lent > 0 ? (int)lent : 0;
}

void policy_max_met(struct plan_state *state)
{
    const struct plan_targets targets = {.margin = MARGIN, .ageing = true, .floors = true};
    struct plan plan;
    int lent = lent_first(state);
    state->next = (double)INFINITY;
    plan_begin(&plan, state, state->capacity - lent, &targets);
    choose(&plan, state);
    tell_jobs(&plan, state);
    spare_raise(&plan, state, lent);
    plan_end(&plan);
}
