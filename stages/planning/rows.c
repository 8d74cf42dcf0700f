/* stages/planning/rows.c - what the rows of limits.rows leave to the jobs of a plan
 *
 * A job that a row keeps from starting takes no part in the plan, so nothing is kept free for it; one that may have
 * several sizes takes part with those that its rows allow.  Jobs are asked about in the order of the plan, and each
 * counts for those behind it with its least size.
 */
#include "stages/planning/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Those that run first, then by deadline, then by the plan's key. */
static int by_turn(const void *a, const void *b)
{
    const struct cached_job *first = *(struct cached_job *const *)a;
    const struct cached_job *second = *(struct cached_job *const *)b;
    if (first->state != second->state)
        return first->state == STATE_SUBMITTED ? -1 : 1;
    if (first->plan.deadline < second->plan.deadline ||
        first->plan.deadline > second->plan.deadline)
        return first->plan.deadline < second->plan.deadline ? -1 : 1;
    return strcmp(first->key, second->key);
}

static struct cached_job **list_jobs(const struct planning *planning, size_t *count)
{
    struct cached_job **jobs =
        memory_allocate((job_cache_count(planning->job_cache) + 1) * sizeof(struct cached_job *));
    *count = 0;
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job)) {
        job->over = job->parked = false;
        if (job_cache_takes_part(job))
            jobs[(*count)++] = job;
    }
    if (*count)
        qsort(jobs, *count, sizeof(struct cached_job *), by_turn);
    return jobs;
}

static bool ask(const struct planning *planning, const struct cached_job *job, int64_t size)
{
    const struct allowance *rows = planning->rows;
    struct job_record record = job->record;
    record.size_now = record.sizes.kind == SIZE_FIXED ? 0 : size;
    return rows->allow(rows->context, job_cache_id(job), &record);
}

/* The largest of its sizes that its rows allow; of one that runs at least what it has; 0: none. */
static int64_t largest_allowed(const struct planning *planning, const struct cached_job *job)
{
    int64_t sizes[SIZES_MOST] = {job->size};
    size_t count = sizes_list(&job->record.sizes, sizes);
    int64_t least = job->state == STATE_SUBMITTED ? job->size : 0;
    for (size_t i = count ? count : 1; i-- > 0;)
        if (sizes[i] <= least || ask(planning, job, sizes[i]))
            return sizes[i] > least ? sizes[i] : least;
    return least;
}

/* It counts for those behind it. */
static void count_least(const struct planning *planning, const struct cached_job *job)
{
    struct job_record record = job->record;
    record.size_now = record.sizes.kind == SIZE_FIXED ? 0 : record.sizes.least;
    planning->rows->count(planning->rows->context, job_cache_id(job), &record);
}

/* Ask about one.  It counts for those behind it. */
static void look_at(const struct planning *planning, struct cached_job *job)
{
    int64_t most = largest_allowed(planning, job);
    job->over = !most;
    if (most && job->record.sizes.kind != SIZE_FIXED)
        forecast_limit(job, most);
    if (most && job->state == STATE_RENDERED)
        count_least(planning, job);
}

void planning_rows_look(struct planning *planning)
{
    const struct allowance *rows = planning->rows;
    size_t count;
    if (!rows || !rows->begin(rows->context))
        return; /* what was found last still holds */
    struct cached_job **jobs = list_jobs(planning, &count);
    for (size_t i = 0; i < count; i++)
        look_at(planning, jobs[i]);
    rows->end(rows->context);
    for (size_t i = 0; i < count; i++)
        jobs[i]->parked = jobs[i]->over && !largest_allowed(planning, jobs[i]);
    free(jobs);
}

/* Hand over also those that a row keeps from starting: they are told so, and parked, once. */
void planning_rows_hand_over(struct planning *planning)
{
    if (!planning->rows)
        return;
    size_t count = planning->handing_count + planning->order_count + 1;
    planning->handing = memory_resize(planning->handing, count * sizeof(*planning->handing));
    for (size_t i = 0; i < planning->order_count; i++) {
        const struct cached_job *job = planning->order[i];
        if (job->parked && planning->answers &&
            !planning->rows->is_told(planning->rows->context, job_cache_id(job)))
            memcpy(planning->handing[planning->handing_count++], job_cache_id(job),
                   strlen(job_cache_id(job)) + 1);
    }
}

bool planning_rows_let_grow(const struct planning *planning, const struct cached_job *job)
{
    struct job_record record = job->record;
    if (!planning->rows || job->next <= job->size || record.sizes.kind == SIZE_FIXED)
        return true;
    if (!ask(planning, job, job->next))
        return false;
    record.size_now = job->next;
    planning->rows->grow(planning->rows->context, job_cache_id(job), &record);
    return true;
}
