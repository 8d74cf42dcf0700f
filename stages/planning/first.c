/* stages/planning/first.c - who waits behind a job that does not fit, where the executor has no queue
 *
 * The plan gives spare resources where they gain most, and nothing to a job that needs more than is spare.
 * So that a stream of small jobs does not starve a large one, the first job without a deadline that does
 * not fit keeps its place: jobs behind it of lower or equal priority take part only if they may pass
 * (stages/planning/backfill.h).  A job that would not fit even beside the jobs with deadlines holds nobody
 * up, since it is not known when its turn comes.
 */
#include "stages/planning/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct demand demand_of(const struct cached_job *job)
{
    int64_t size = job->state == STATE_SUBMITTED          ? job->size
                   : job->record.sizes.kind == SIZE_FIXED ? 1
                                                          : job->record.sizes.least;
    struct need need = job_cache_need(job, size);
    return resources_demand(need.cpus, need.memory, need.gpus, job->record.gpu_type);
}

static int by_key(const void *a, const void *b)
{
    const struct cached_job *first = *(struct cached_job *const *)a;
    const struct cached_job *second = *(struct cached_job *const *)b;
    return strcmp(first->key, second->key);
}

/* The job that was first in the last plan comes before all others of its standing. */
static void raise_first(const struct planning *planning, struct cached_job **jobs, size_t count)
{
    size_t at = 0, place = 0;
    while (at < count && strcmp(job_cache_id(jobs[at]), planning->first) != 0)
        at++;
    if (at == count)
        return;
    struct cached_job *first = jobs[at];
    while (jobs[place]->standing > first->standing)
        place++;
    memmove(jobs + place + 1, jobs + place, (at - place) * sizeof(struct cached_job *));
    jobs[place] = first;
}

/* List the waiting jobs without a deadline, in order; resources of those with one count as taken. */
static size_t list_jobs(struct planning *planning, struct cached_job **jobs)
{
    size_t count = 0;
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job)) {
        struct demand demand = demand_of(job);
        if (!job_cache_takes_part(job) || job->over)
            continue;
        if (isfinite(job->plan.deadline))
            backfill_hold(planning->backfill, &demand, job->state == STATE_SUBMITTED);
        else if (job->state == STATE_RENDERED)
            jobs[count++] = job;
    }
    if (count)
        qsort(jobs, count, sizeof(struct cached_job *), by_key);
    raise_first(planning, jobs, count);
    return count;
}

void planning_first_keep(struct planning *planning)
{
    struct backfill *backfill = planning->backfill;
    struct error reason;
    bool blocked = false, others = false; /* `others`: some jobs before this one start now */
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job))
        job->behind = false;
    if (!backfill || !planning->told)
        return;
    struct cached_job **jobs =
        memory_allocate((job_cache_count(planning->job_cache) + 1) * sizeof(struct cached_job *));
    backfill_set_free(backfill, &planning->left);
    size_t count = list_jobs(planning, jobs);
    planning->first[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        struct demand demand = demand_of(jobs[i]);
        if (blocked) {
            jobs[i]->behind = !backfill_pass(backfill, &jobs[i]->record, &demand);
        } else if (backfill_take(backfill, &demand, &reason) &&
                   backfill_fits_ever(backfill, &demand)) {
            backfill_reserve(backfill, &demand);
            memcpy(planning->first, job_cache_id(jobs[i]), strlen(job_cache_id(jobs[i])) + 1);
            jobs[i]->behind = others; /* or running jobs might be shrunk for it */
            blocked = true;
        } else {
            others = true;
        }
    }
    free(jobs);
}
