/* stages/planning/pools.h - what jobs share: the processors, the GPUs, and the GPUs of one type
 *
 * Each job is planned in one pool: that of its GPUs if it has any, else the processors.  The GPUs of a
 * type are a pool of their own while a job asks for that type and the executor tells how many there
 * are.  Pools are planned one after another, those of GPUs first: what starts in
 * one reduces what later pools see as free.  Memory is not planned; it is looked at when a job is handed over.
 */
#ifndef STAGES_PLANNING_POOLS_H
#define STAGES_PLANNING_POOLS_H

#include "executors/executor.h"
#include "stages/planning/forecast.h"

struct pool {
    char name[80]; /* "cpus", "gpus", "gpus:TYPE": of letters that stand bare in a log */
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

/* How much of the pool there is for its jobs: what is free of `left`, and what those that run hold. */
int pool_capacity(const struct pool *pool, const struct capacity *left);

/* Take from `left` what the pool's jobs are given (cached_job.next) beyond what they hold. */
void pool_take(const struct pool *pool, struct capacity *left);

/* ---- room, for single jobs ---- */

/* Is there so much free?  And take it, as far as it is there. */
bool pools_have(const struct capacity *left, const struct cached_job *job, int64_t size);
void pools_hold(struct capacity *left, const struct cached_job *job, int64_t size);
/* Is there so much free as a running job takes more at its next size?  Then it is taken. */
bool pools_take_growth(struct capacity *left, const struct cached_job *job);
/* Take only what the plan does not know of: beside its pool's own unit. */
void pools_hold_beside(struct capacity *left, const struct cached_job *job, int64_t size);

/* Has the executor so much in all? */
bool pools_have_ever(const struct capacity *capacity, const struct cached_job *job, int64_t size);

#endif
