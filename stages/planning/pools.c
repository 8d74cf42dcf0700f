/* stages/planning/pools.c - what jobs compete for: the CPUs, the GPUs, and the GPUs of one type */
#include "stages/planning/pools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POOLS = MOST_GPU_TYPES + 2, MOST_CAPACITY = 1 << 30 };

/* ---- GPU types ---- */

/* The executor's figures of that type, or NULL. */
static const struct gpu_capacity *find_type(const struct capacity *capacity, struct text type)
{
    for (size_t i = 0; type.length && i < capacity->gpu_type_count; i++)
        if (text_is(type, capacity->gpu_types[i].type))
            return &capacity->gpu_types[i];
    return NULL;
}

static struct gpu_capacity *type_of(struct capacity *capacity, const struct cached_job *job)
{
    for (size_t i = 0; job->record.gpu_type.length && i < capacity->gpu_type_count; i++)
        if (text_is(job->record.gpu_type, capacity->gpu_types[i].type))
            return &capacity->gpu_types[i];
    return NULL;
}

/* ---- sorting ---- */

/* The pool of that kind and type; it is made if it does not exist. */
static size_t find_pool(struct pools *pools, bool gpus, const char *type)
{
    for (size_t i = 0; i < pools->count; i++)
        if (pools->items[i].gpus == gpus && strcmp(pools->items[i].type, type) == 0)
            return i;
    struct pool *pool = &pools->items[pools->count];
    pool->gpus = gpus;
    snprintf(pool->type, sizeof(pool->type), "%s", type);
    int length = snprintf(pool->name, sizeof(pool->name), "%s%s%s", gpus ? "gpus" : "cpus",
                          type[0] ? ":" : "", type);
    for (int i = 0; i < length; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/-",
                    pool->name[i]))
            pool->name[i] = '_';
    return pools->count++;
}

static int compare_pools(const void *a, const void *b)
{
    const struct pool *first = a, *second = b;
    if (first->gpus != second->gpus)
        return first->gpus ? -1 : 1;
    bool typed = first->type[0] != '\0', other = second->type[0] != '\0';
    if (typed != other)
        return typed ? -1 : 1;
    return strcmp(first->type, second->type);
}

static size_t pool_of(struct pools *pools, const struct cached_job *job,
                      const struct capacity *capacity)
{
    bool gpus = job->record.gpus > 0;
    const struct gpu_capacity *type = gpus ? find_type(capacity, job->record.gpu_type) : NULL;
    return find_pool(pools, gpus, type ? type->type : "");
}

void pools_sort(struct pools *pools, struct job_cache *job_cache, const struct capacity *capacity,
                bool (*takes_part)(const struct cached_job *job))
{
    size_t most = job_cache_count(job_cache) + 1;
    *pools = (struct pools){.items = memory_allocate(MOST_POOLS * sizeof(*pools->items))};
    for (struct cached_job *job = job_cache_first(job_cache); job; job = job_cache_after(job))
        if (takes_part(job))
            pool_of(pools, job, capacity);
    if (pools->count)
        qsort(pools->items, pools->count, sizeof(*pools->items), compare_pools);
    for (struct cached_job *job = job_cache_first(job_cache); job; job = job_cache_after(job)) {
        if (!takes_part(job))
            continue;
        job->pool = pool_of(pools, job, capacity);
        struct pool *pool = &pools->items[job->pool];
        if (!pool->jobs)
            pool->jobs = memory_allocate(most * sizeof(struct cached_job *));
        pool->jobs[pool->count++] = job;
    }
}

void pools_free(struct pools *pools)
{
    for (size_t i = 0; i < pools->count; i++)
        free(pools->items[i].jobs);
    free(pools->items);
    *pools = (struct pools){0};
}

/* ---- capacity ---- */

int pool_capacity(const struct pool *pool, const struct capacity *left)
{
    const struct gpu_capacity *type = find_type(left, text_of(pool->type));
    int64_t available = !pool->gpus ? left->cpus_free : type ? type->free : left->gpus_free;
    int64_t all = !pool->gpus ? left->cpus : type ? type->count : left->gpus;
    for (size_t i = 0; i < pool->count; i++)
        available += pool->jobs[i]->plan.size;
    if (available > all)
        available = all; /* a job that has ended may be counted twice until it is moved */
    return available < 0 ? 0 : available > MOST_CAPACITY ? MOST_CAPACITY : (int)available;
}

static struct need need_beyond(const struct cached_job *job)
{
    struct need need = job_cache_need(job, job->next);
    if (job->state == STATE_SUBMITTED) {
        struct need now = job_cache_need(job, job->size);
        need.cpus -= now.cpus < need.cpus ? now.cpus : need.cpus;
        need.memory -= now.memory < need.memory ? now.memory : need.memory;
        need.gpus -= now.gpus < need.gpus ? now.gpus : need.gpus;
    }
    return need;
}

static void hold_need(struct capacity *left, const struct cached_job *job, struct need need)
{
    struct gpu_capacity *type = type_of(left, job);
    left->cpus_free -= need.cpus < left->cpus_free ? need.cpus : left->cpus_free;
    left->memory_free -= need.memory < left->memory_free ? need.memory : left->memory_free;
    left->gpus_free -= need.gpus < left->gpus_free ? need.gpus : left->gpus_free;
    if (type)
        type->free -= need.gpus < type->free ? need.gpus : type->free;
}

void pool_take(const struct pool *pool, struct capacity *left)
{
    for (size_t i = 0; i < pool->count; i++)
        if (pool->jobs[i]->next > 0)
            hold_need(left, pool->jobs[i], need_beyond(pool->jobs[i]));
}

static bool need_fits(const struct capacity *left, const struct cached_job *job, struct need need)
{
    const struct gpu_capacity *type = find_type(left, job->record.gpu_type);
    return need.cpus <= left->cpus_free && need.memory <= left->memory_free &&
           need.gpus <= left->gpus_free && (!type || need.gpus <= type->free);
}

bool pools_have(const struct capacity *left, const struct cached_job *job, int64_t size)
{
    return need_fits(left, job, job_cache_need(job, size));
}

bool pools_take_growth(struct capacity *left, const struct cached_job *job)
{
    struct need need = need_beyond(job);
    if (!need_fits(left, job, need))
        return false;
    hold_need(left, job, need);
    return true;
}

void pools_hold(struct capacity *left, const struct cached_job *job, int64_t size)
{
    hold_need(left, job, job_cache_need(job, size));
}

void pools_hold_beside(struct capacity *left, const struct cached_job *job, int64_t size)
{
    struct need need = job_cache_need(job, size);
    if (need.gpus > 0)
        need.gpus = 0;
    else
        need.cpus = 0;
    hold_need(left, job, need);
}

bool pools_have_ever(const struct capacity *capacity, const struct cached_job *job, int64_t size)
{
    struct need need = job_cache_need(job, size);
    const struct gpu_capacity *type = find_type(capacity, job->record.gpu_type);
    return need.cpus <= capacity->cpus && need.memory <= capacity->memory &&
           need.gpus <= capacity->gpus && (!type || need.gpus <= type->count);
}
