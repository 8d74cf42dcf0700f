/* stages/planning/order.c - which jobs a plan submits, and in which order */
#include "stages/planning/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "stages/planning/planning.h"
#include "stages/prepare/rerender.h"

enum { MOST_RENDERED = 32 }; /* jobs that one plan renders again, which takes about a second */

/* Milliseconds: a job without a deadline that has waited for so long is not overtaken any more. */
static const int64_t PATIENCE = 3600 * 1000;

/* Jobs outside the plan first; then by deadline, ties by the plan's key. */
static int by_turn(const void *a, const void *b)
{
    const struct cached_job *first = *(struct cached_job *const *)a;
    const struct cached_job *second = *(struct cached_job *const *)b;
    bool counts = job_cache_takes_part(first), other = job_cache_takes_part(second);
    if (counts != other)
        return counts ? 1 : -1;
    if (counts && first->plan.deadline != second->plan.deadline)
        return first->plan.deadline < second->plan.deadline ? -1 : 1;
    int order = counts ? strcmp(first->key, second->key) : 0;
    return order ? order : strcmp(job_cache_id(first), job_cache_id(second));
}

static void sort_jobs(struct planning *planning)
{
    size_t count = job_cache_count(planning->job_cache);
    planning->order = memory_allocate((count + 1) * sizeof(struct cached_job *));
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job))
        planning->order[planning->order_count++] = job;
    if (count)
        qsort(planning->order, count, sizeof(struct cached_job *), by_turn);
}

/* Should the job be submitted now?  What it takes is subtracted from `left`.  Within its pool the
 * plan gives each job its place; of resources that are not planned, a job that may not be overtaken
 * takes what is free, even if that is not enough yet. */
static bool is_due(const struct planning *planning, struct capacity *left,
                   const struct cached_job *job)
{
    if (job->state != STATE_RENDERED)
        return false;
    if (!job_cache_takes_part(job))
        return true;
    if (job->next <= 0)
        return false;
    bool fits = !planning->told || pools_have(left, job, job->next);
    bool planned = isfinite(job->plan.deadline) && job->plan.deadline_status == DEADLINE_ON_TRACK;
    bool first = planned || planning->now - job->record.accepted > PATIENCE;
    if (planning->told && fits)
        pools_hold(left, job, job->next);
    else if (planning->told && first)
        pools_hold_beside(left, job, job->next);
    return fits;
}

/* Must the job be rendered at another size first? */
static bool is_to_be_rendered(const struct cached_job *job)
{
    return job_cache_takes_part(job) && job->next != job->record.size;
}

void planning_order_rerender(struct planning *planning, struct cached_job **due, size_t count)
{
    struct rerender jobs[MOST_RENDERED];
    struct cached_job *rendered[MOST_RENDERED];
    struct error error;
    size_t found = 0, done = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_to_be_rendered(due[i]))
            continue;
        if (found == MOST_RENDERED) {
            due[i] = NULL;
            planning->more = true;
            continue;
        }
        jobs[found] = (struct rerender){.size = due[i]->next};
        memcpy(jobs[found].id, job_cache_id(due[i]), strlen(job_cache_id(due[i])) + 1);
        rendered[found++] = due[i];
    }
    if (found && !stage_is_fenced(planning->stage) &&
        rerender_jobs(planning->stage, jobs, found, &error))
        log_warn("%s", error.text);
    for (size_t i = 0; i < found; i++) {
        struct cached_job *job = rendered[i];
        done += jobs[i].done;
        if (!jobs[i].done)
            job->next = job->record.size > job->next ? 0 : job->record.size;
    }
    planning->more = planning->more && done > 0; /* a failure must not be retried in a loop */
}

/* List the types of GPU that jobs ask for to which the plan gives nothing. */
static void list_wanted(struct planning *planning)
{
    buffer_clear(&planning->wanted);
    for (size_t i = 0; i < planning->order_count; i++) {
        const struct cached_job *job = planning->order[i];
        if (job->state != STATE_RENDERED || !job_cache_takes_part(job) || job->next > 0 ||
            job->over || !job->record.gpus)
            continue;
        struct demand demand = resources_demand(0, 0, job->record.gpus, job->record.gpu_type);
        resources_add_gpu_type(&planning->wanted, demand.gpu_type);
    }
}

struct text planning_wanted_gpus(const struct planning *planning)
{
    return buffer_text(&planning->wanted);
}

struct cached_job **planning_order(struct planning *planning, size_t *count)
{
    struct capacity left = planning->left;
    sort_jobs(planning);
    struct cached_job **due =
        memory_allocate((planning->order_count + 1) * sizeof(struct cached_job *));
    *count = 0;
    for (size_t i = 0; i < planning->order_count; i++)
        if (planning->answers && is_due(planning, &left, planning->order[i]))
            due[(*count)++] = planning->order[i];
    planning->growable = left;
    list_wanted(planning);
    return due;
}

void planning_order_hand_over(struct planning *planning, struct cached_job *const *due,
                              size_t count)
{
    planning->handing = memory_allocate((count + 1) * sizeof(*planning->handing));
    for (size_t i = 0; i < count; i++)
        if (due[i] && (!job_cache_takes_part(due[i]) || due[i]->next > 0))
            memcpy(planning->handing[planning->handing_count++], job_cache_id(due[i]),
                   strlen(job_cache_id(due[i])) + 1);
}
