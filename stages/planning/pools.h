/* stages/planning/pools.h - what jobs compete for: the CPUs, the GPUs, and the GPUs of one type
 *
 * Each job is planned in one pool: that of its GPUs if it has any, else the CPUs.  The GPUs of a
 * type are a pool of their own while a job asks for that type and the executor reports how many
 * there are.  Pools are planned one after another, those of GPUs first: starts in one pool reduce
 * what later pools see as free.  Memory is not planned; it is checked when a job is submitted.
 */
#ifndef STAGES_PLANNING_POOLS_H
#define STAGES_PLANNING_POOLS_H

#include "executors/executor.h"
#include "stages/planning/forecast.h"

struct pool {
    char name[80]; /* "cpus", "gpus", "gpus:TYPE", in characters that a log need not quote */
    char type[64]; /* of GPUs; "": any */
    bool gpus;
    struct cached_job **jobs;
    size_t count;
};

struct pools {
    struct pool *items; /* in the order of planning */
    size_t count;
};

/* Sort the jobs that `takes_part` into pools.  pools_free() ends it; the jobs are the job_cache's. */
void pools_sort(struct pools *pools, struct job_cache *job_cache, const struct capacity *capacity,
                bool (*takes_part)(const struct cached_job *job));
void pools_free(struct pools *pools);

/* How much of the pool its jobs can have: what is free in `left`, plus what its running jobs hold. */
int pool_capacity(const struct pool *pool, const struct capacity *left);

/* Subtract from `left` what the plan gives the pool's jobs (cached_job.next) beyond what they hold. */
void pool_take(const struct pool *pool, struct capacity *left);

/* ---- capacity for single jobs ---- */

/* Is this much free?  The other function takes it, as far as it is free. */
bool pools_have(const struct capacity *left, const struct cached_job *job, int64_t size);
void pools_hold(struct capacity *left, const struct cached_job *job, int64_t size);
/* Is the extra that a running job needs at its next size free?  If so, take it. */
bool pools_take_growth(struct capacity *left, const struct cached_job *job);
/* Take only what the plan does not count: everything but the unit of the job's own pool. */
void pools_hold_beside(struct capacity *left, const struct cached_job *job, int64_t size);

/* Does the executor have this much in all? */
bool pools_have_ever(const struct capacity *capacity, const struct cached_job *job, int64_t size);

#endif
