/* simulation/recorded_day.c - makes a trace of recorded plans, and simulates it */
#include "simulation/recorded_day.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/policy.h"
#include "simulation/engine.h"

enum { MOST_POOLS = 64, MOST_JOBS = 4000 }; /* limits, as more would take long */

struct day_job {
    char *name;
    struct plan_level levels[MOST_LEVELS]; /* of its last plan */
    size_t level_count;
    double arrival, deadline;
    int wanted;
    double *runs; /* seconds of progress at each level */
    double left;  /* units left, by its last plan */
    double restart;
    double started, simulated; /* times; NAN: not started, or before the recording began */
    int size, simulated_size;  /* at its start */
    bool there;                /* it is in the present plan */
    int has;                   /* its size in the last plan */
    double dead;               /* seconds of a restart since the last plan */
};

struct day_pool {
    char *name;
    int capacity;
    double guard, reserve;
    double last, shortest; /* time of the last plan; shortest time between plans */
    size_t plans;
    struct day_job *jobs;
    size_t count, job_capacity;
};

struct recorded_day {
    struct day_pool pools[MOST_POOLS];
    size_t count;
};

struct recorded_day *recorded_day_new(void)
{
    return memory_allocate(sizeof(struct recorded_day));
}

void recorded_day_free(struct recorded_day *day)
{
    for (size_t i = 0; i < day->count; i++) {
        struct day_pool *pool = &day->pools[i];
        for (size_t k = 0; k < pool->count; k++) {
            free(pool->jobs[k].name);
            free(pool->jobs[k].runs);
        }
        free(pool->jobs);
        free(pool->name);
    }
    free(day);
}

/* ---- what the plans say ---- */

static struct day_pool *find_pool(struct recorded_day *day, const struct recorded_plan *plan)
{
    for (size_t i = 0; i < day->count; i++)
        if (text_is(plan->pool, day->pools[i].name))
            return &day->pools[i];
    if (day->count == MOST_POOLS)
        return NULL;
    struct day_pool *pool = &day->pools[day->count++];
    pool->name = memory_copy_string(plan->pool.data);
    pool->shortest = (double)INFINITY;
    return pool;
}

static struct day_job *find_job(struct day_pool *pool, const char *name)
{
    for (size_t i = pool->count; i-- > 0;)
        if (strcmp(pool->jobs[i].name, name) == 0)
            return &pool->jobs[i];
    pool->jobs = memory_grow(pool->jobs, pool->count, &pool->job_capacity, sizeof(*pool->jobs));
    struct day_job *job = &pool->jobs[pool->count++];
    *job = (struct day_job){.name = memory_copy_string(name),
                            .runs = memory_allocate(MOST_LEVELS * sizeof(double)),
                            .started = (double)NAN,
                            .simulated = (double)NAN};
    return job;
}

/* Add the time since the last plan to the size that the job had. */
static void count_time(struct day_job *job, int size, double seconds)
{
    double useful = seconds > job->dead ? seconds - job->dead : 0;
    size_t level = job->level_count;
    while (level-- > 0)
        if (job->levels[level].size <= size) {
            job->runs[level] += useful;
            return;
        }
}

/* Copy the facts of a job.  Only the first MOST_LEVELS sizes are kept. */
static void take_facts(struct day_job *job, const struct plan_job *plan)
{
    job->level_count = plan->level_count < MOST_LEVELS ? plan->level_count : MOST_LEVELS;
    memcpy(job->levels, plan->levels, job->level_count * sizeof(*job->levels));
    job->arrival = plan->arrival;
    job->wanted = plan->wanted;
    job->left = plan->work;
    job->restart = plan->restart;
    /* One that was on trial had none in the plan; it has had one since. */
    if (isfinite(plan->deadline) || job->deadline <= 0)
        job->deadline = plan->deadline;
}

static void add_job(struct day_pool *pool, struct day_job *job, const struct plan_job *plan,
                    int give, double now)
{
    bool is_new = job->level_count == 0;
    if (!is_new && plan->size > 0)
        count_time(job, plan->size, now - pool->last);
    take_facts(job, plan);
    if (isnan(job->started) && plan->size == 0 && give > 0) {
        job->started = now;
        job->size = give;
    }
    job->has = give;
    job->dead = plan->size > 0 ? plan->restart_left : give > 0 ? plan->restart : 0;
    job->there = true;
}

void recorded_day_add(struct recorded_day *day, const struct recorded_plan *plan)
{
    struct day_pool *pool = find_pool(day, plan);
    double now = plan->state.now;
    if (!pool || pool->count > MOST_JOBS)
        return;
    for (size_t i = 0; i < pool->count; i++)
        pool->jobs[i].there = false;
    for (size_t i = 0; i < plan->state.job_count; i++) {
        struct day_job *job = find_job(pool, plan->names[i]);
        add_job(pool, job, plan->state.jobs[i], plan->decisions[i].give, now);
    }
    for (size_t i = 0; i < pool->count; i++) {
        struct day_job *job = &pool->jobs[i];
        if (job->there || job->left <= 0)
            continue;
        count_time(job, job->has, now - pool->last); /* it has ended */
        job->left = job->has = 0;
    }
    if (pool->plans++ && now - pool->last < pool->shortest && now > pool->last)
        pool->shortest = now - pool->last;
    pool->last = now;
    pool->guard = plan->state.guard;
    pool->reserve = plan->state.reserve;
    if (plan->state.capacity > pool->capacity)
        pool->capacity = plan->state.capacity;
}

/* ---- the trace ---- */

static int by_arrival(const void *a, const void *b)
{
    const struct trace_job *first = a, *second = b;
    if (first->arrival != second->arrival)
        return first->arrival < second->arrival ? -1 : 1;
    return strcmp(first->id, second->id);
}

static double work_of(const struct day_job *job)
{
    double work = job->left;
    for (size_t i = 0; i < job->level_count; i++)
        work += job->runs[i] * job->levels[i].rate;
    return work;
}

/* Make a trace of the jobs that started during the recording; *restart is the mean of their
 * restart times. */
static void make_trace(struct arena *arena, const struct day_pool *pool, struct trace *trace,
                       double *restart)
{
    *trace = (struct trace){
        .jobs = arena_allocate(arena, (pool->count + 1) * sizeof(*trace->jobs)),
        .curves = arena_allocate(arena, (pool->count + 1) * sizeof(struct trace_curve *))};
    *restart = 0;
    for (size_t i = 0; i < pool->count; i++) {
        const struct day_job *job = &pool->jobs[i];
        struct trace_curve *curve = arena_allocate(arena, sizeof(*curve));
        if (isnan(job->started) || !(work_of(job) > 0))
            continue; /* it started before the recording, or never */
        *curve = (struct trace_curve){.model = text_of(job->name), .level_count = job->level_count};
        memcpy(curve->levels, job->levels, sizeof(curve->levels));
        trace->curves[trace->curve_count++] = curve;
        trace->jobs[trace->count++] = (struct trace_job){.id = job->name,
                                                         .arrival = job->arrival,
                                                         .deadline = job->deadline,
                                                         .work = work_of(job),
                                                         .wanted = job->wanted,
                                                         .curve = curve};
        *restart += job->restart;
    }
    if (trace->count) {
        *restart /= (double)trace->count;
        qsort(trace->jobs, trace->count, sizeof(*trace->jobs), by_arrival);
    }
}

static void see_start(void *context, double now, const struct plan_job *job)
{
    struct day_pool *pool = context;
    if (job->size > 0)
        return;
    struct day_job *started = find_job(pool, job->id);
    if (isnan(started->simulated)) {
        started->simulated = now;
        started->simulated_size = job->give;
    }
}

static void compare_pool(const struct day_pool *pool, double tick, struct recorded_pool *result)
{
    for (size_t i = 0; i < pool->count; i++) {
        const struct day_job *job = &pool->jobs[i];
        if (isnan(job->started) || isnan(job->simulated))
            continue;
        result->started++;
        result->same_size += job->size == job->simulated_size;
        for (size_t k = 0; k < pool->count; k++) {
            const struct day_job *later = &pool->jobs[k];
            if (isnan(later->simulated) || !(later->started >= job->started + tick))
                continue;
            result->pairs++;
            result->in_order += job->simulated <= later->simulated;
        }
    }
}

/* Simulate the jobs of a recorded pool, and compare the order of their starts with the recorded
 * one. */
static void simulate_pool(struct day_pool *pool, struct arena *arena, struct recorded_pool *result)
{
    struct arena *own = arena_new();
    struct trace trace;
    struct simulation_result ignored;
    double restart;
    *result = (struct recorded_pool){.name = text_of(arena_string(arena, pool->name)),
                                     .capacity = pool->capacity,
                                     .too_many = pool->count > MOST_JOBS};
    make_trace(own, pool, &trace, &restart);
    result->jobs = trace.count;
    if (trace.count && !result->too_many) {
        double tick =
            isfinite(pool->shortest) && pool->shortest > pool->guard ? pool->shortest : pool->guard;
        struct simulation_options options = {.gpus = pool->capacity,
                                             .tick = tick > 0 ? tick : 1,
                                             .restart = restart,
                                             .guard = pool->guard,
                                             .live = 0,
                                             .exponent = 0.5,
                                             .deadline_scale = 1,
                                             .reserve = pool->reserve,
                                             .seed = 1,
                                             .observe = see_start,
                                             .context = pool};
        engine_run(&trace, &options, policy_find(TEXT("ours")), &ignored, NULL);
        compare_pool(pool, options.tick, result);
    }
    arena_free(own);
}

struct recorded_pool *recorded_day_simulate(struct recorded_day *day, struct arena *arena,
                                            size_t *count)
{
    struct recorded_pool *pools = arena_allocate(arena, (day->count + 1) * sizeof(*pools));
    for (size_t i = 0; i < day->count; i++)
        simulate_pool(&day->pools[i], arena, &pools[i]);
    *count = day->count;
    return pools;
}
