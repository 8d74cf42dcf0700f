/* stages/planning/budget.c - what each user's deadlines may still claim of a pool */
#include "stages/planning/budget.h"

#include <math.h>
#include <stdlib.h>

static const double DAY = 86400; /* seconds */

/* The owners of a pool's jobs, sorted by name. */
struct owners {
    struct text *names; /* ascending */
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static void list_owners(struct owners *owners, const struct pool *pool)
{
    size_t found = 0;
    owners->names = memory_allocate((pool->count + 1) * sizeof(*owners->names));
    for (size_t i = 0; i < pool->count; i++)
        if (pool->jobs[i]->record.deadline)
            owners->names[owners->count++] = pool->jobs[i]->record.owner;
    if (owners->count)
        qsort(owners->names, owners->count, sizeof(*owners->names), by_name);
    for (size_t i = 0; i < owners->count; i++)
        if (i == 0 || !text_equal(owners->names[i], owners->names[found - 1]))
            owners->names[found++] = owners->names[i];
    owners->count = found;
}

static int find_owner(const struct owners *owners, struct text name)
{
    const struct text *found =
        owners->count ? bsearch(&name, owners->names, owners->count, sizeof(name), by_name) : NULL;
    return found ? (int)(found - owners->names) : -1;
}

/* Charge an owner for what a run held in the last day. */
static void charge_run(struct budget *budget, const struct owners *owners, const struct pool *pool,
                       const struct past_run *run, int64_t now)
{
    double since_end = (double)(now - run->ended) / 1000;
    int owner = find_owner(owners, run->owner);
    bool of_pool =
        (run->gpus > 0) == pool->gpus && (!pool->type[0] || text_is(run->gpu_type, pool->type));
    if (!run->deadline || owner < 0 || !of_pool || since_end >= DAY)
        return;
    double seconds = run->seconds;
    if (since_end > 0 && seconds > DAY - since_end)
        seconds = DAY - since_end;
    budget->tokens[owner] -= seconds * (double)(pool->gpus ? run->gpus : run->cpus);
}

/* Charge an owner for what a job has held in its present attempt. */
static void charge_job(struct budget *budget, const struct cached_job *job)
{
    const struct progress *progress = job->progress;
    if (job->state != STATE_SUBMITTED || !progress || progress->attempt != job->record.attempt)
        return;
    for (int i = 0; i < progress->size_count && i < PROGRESS_MOST_SIZES; i++) {
        const struct progress_at_size *at = &progress->sizes[i];
        double seconds = (double)at->running / 1000;
        if (at->attempt == progress->attempt)
            budget->tokens[job->plan.owner] -=
                (seconds < DAY ? seconds : DAY) * forecast_units(job, at->size);
    }
}

void budget_make(struct budget *budget, const struct pool *pool, const struct history *history,
                 int capacity, int percent, int64_t now)
{
    struct owners owners = {.count = 0};
    *budget = (struct budget){.count = 0};
    list_owners(&owners, pool);
    budget->count = owners.count;
    budget->tokens = memory_allocate((owners.count + 1) * sizeof(double));
    for (size_t i = 0; i < owners.count; i++)
        budget->tokens[i] = percent > 0 ? percent / 100.0 * capacity * DAY : (double)INFINITY;
    for (size_t i = 0; i < history->count; i++)
        charge_run(budget, &owners, pool, &history->runs[i], now);
    for (size_t i = 0; i < pool->count; i++) {
        struct cached_job *job = pool->jobs[i];
        job->plan.owner = job->record.deadline ? find_owner(&owners, job->record.owner) : -1;
        if (job->plan.owner >= 0)
            charge_job(budget, job);
    }
    for (size_t i = 0; i < owners.count; i++)
        if (budget->tokens[i] < 0)
            budget->tokens[i] = 0;
    free(owners.names);
}

void budget_free(struct budget *budget)
{
    free(budget->tokens);
    *budget = (struct budget){0};
}
