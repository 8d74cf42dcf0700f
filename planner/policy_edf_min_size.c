/* planner/policy_edf_min_size.c - deadline order, the smallest size that is predicted to meet the deadline */
#include <math.h>
#include <stdlib.h>

#include "planner/plan.h"
#include "planner/policy.h"

/* The smallest level at which the item's job is done in time, started now. */
static const struct plan_level *smallest_level(const struct plan_item *item, double now)
{
    const struct plan_job *job = item->job;
    for (size_t i = 0; i < job->level_count; i++)
        if (now + share_time_alone(job, &job->levels[i]) <= item->latest)
            return &job->levels[i];
    return NULL;
}

void policy_edf_min_size(struct plan_state *state)
{
    struct plan plan;
    int free_now = state->capacity;
    state->next = (double)INFINITY;
    plan_begin(&plan, state, state->capacity, &(struct plan_targets){0});
    plan_sort_others(&plan);
    for (size_t i = plan.candidates; i < plan.count; i++)
        free_now -= plan.items[i].job->give;
    for (size_t i = 0; i < plan.candidates; i++) {
        struct plan_job *job = plan.items[i].job;
        const struct plan_level *level = smallest_level(&plan.items[i], state->now);
        if (!level || level->size > free_now) {
            job->deadline_status = DEADLINE_AT_RISK;
            continue;
        }
        job->give = level->size;
        job->finish = state->now + share_time_alone(job, level);
        free_now -= level->size;
    }
    /* Skipped jobs, and jobs without a deadline, run on the rest. */
    for (size_t i = 0; i < plan.count; i++) {
        struct plan_job *job = plan.items[i].job;
        if (job->give > 0 || job->levels[0].size > free_now)
            continue;
        job->give = job->levels[0].size;
        free_now -= job->give;
    }
    plan_end(&plan);
}
