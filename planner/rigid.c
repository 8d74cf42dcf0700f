/* planner/rigid.c - the policies that run a job at its wanted size, and never stop it */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "planner/policy.h"
#include "planner/share.h"

/* A job in a queue, with its sort key. */
struct place {
    struct plan_job *job;
    const struct plan_level *level;
    double key;
    double finish; /* if it started now */
};

static int by_key(const void *a, const void *b)
{
    const struct place *first = a, *second = b;
    if (first->key != second->key)
        return first->key < second->key ? -1 : 1;
    return strcmp(first->job->id, second->job->id);
}

static void set_deadline_status(struct plan_job *job, double now, double finish)
{
    job->finish = finish;
    job->deadline_status = !isfinite(job->deadline)  ? DEADLINE_BEST_EFFORT
                           : now >= job->deadline    ? DEADLINE_LATE
                           : finish <= job->deadline ? DEADLINE_ON_TRACK
                                                     : DEADLINE_AT_RISK;
}

/* Give running jobs what they have, and queue the waiting ones in order, except those without a
 * level that fits the cluster.  Returns the free capacity. */
static int queue_up(const struct plan_state *state, double (*key)(const struct place *place),
                    struct place *queue, size_t *count)
{
    int free_now = state->capacity;
    *count = 0;
    for (size_t i = 0; i < state->job_count; i++) {
        struct plan_job *job = state->jobs[i];
        int most = job->wanted < state->capacity ? job->wanted : state->capacity;
        struct place place = {.job = job, .level = plan_level_at_most(job, most)};
        job->give = job->size;
        free_now -= job->size;
        place.finish =
            place.level ? state->now + share_time_alone(job, place.level) : (double)INFINITY;
        set_deadline_status(job, state->now, job->size > 0 ? place.finish : (double)INFINITY);
        if (job->size > 0 || !place.level)
            continue;
        place.key = key(&place);
        queue[(*count)++] = place;
    }
    qsort(queue, *count, sizeof(*queue), by_key);
    return free_now;
}

static bool start_job(struct place *place, int *free_now, double now)
{
    if (place->level->size > *free_now)
        return false;
    *free_now -= place->level->size;
    place->job->give = place->level->size;
    set_deadline_status(place->job, now, place->finish);
    return true;
}

/* The time when `wanted` is predicted to be free; *spare is what remains then. */
static double shadow_time(const struct plan_state *state, int free_now, int wanted, int *spare)
{
    struct place *running = memory_allocate((state->job_count + 1) * sizeof(*running));
    size_t count = 0, i = 0;
    for (size_t k = 0; k < state->job_count; k++)
        if (state->jobs[k]->give > 0)
            running[count++] = (struct place){.job = state->jobs[k], .key = state->jobs[k]->finish};
    qsort(running, count, sizeof(*running), by_key);
    double time = state->now;
    while (free_now < wanted && i < count) {
        free_now += running[i].job->give;
        time = running[i++].key;
    }
    *spare = free_now - wanted;
    free(running);
    return free_now < wanted ? (double)INFINITY : time;
}

enum behind { /* the jobs behind the first that does not fit */
              BEHIND_WAITS,
              BEHIND_BACKFILLS, /* start if that does not delay the first one */
              BEHIND_PASSES     /* start if they fit */
};

static void serve_queue(struct plan_state *state, double (*key)(const struct place *place),
                        enum behind behind)
{
    struct place *queue = memory_allocate((state->job_count + 1) * sizeof(*queue));
    size_t count, i = 0;
    int free_now = queue_up(state, key, queue, &count), spare = 0;
    state->next = (double)INFINITY;
    while (i < count && (start_job(&queue[i], &free_now, state->now) || behind == BEHIND_PASSES))
        i++;
    if (i < count && behind == BEHIND_BACKFILLS) {
        double until = shadow_time(state, free_now, queue[i].level->size, &spare);
        while (++i < count) {
            bool in_time = queue[i].finish <= until;
            if (!in_time && queue[i].level->size > spare)
                continue;
            if (start_job(&queue[i], &free_now, state->now) && !in_time)
                spare -= queue[i].level->size;
        }
    }
    free(queue);
}

static double key_arrival(const struct place *place)
{
    return place->job->arrival;
}
static double key_length(const struct place *place)
{
    return place->finish;
}
static double key_deadline(const struct place *place)
{
    return place->job->deadline;
}
static double key_laxity(const struct place *place)
{
    return place->job->deadline - place->finish;
}

void policy_fifo(struct plan_state *state)
{
    serve_queue(state, key_arrival, BEHIND_WAITS);
}
void policy_backfill(struct plan_state *state)
{
    serve_queue(state, key_arrival, BEHIND_BACKFILLS);
}
void policy_sjf(struct plan_state *state)
{
    serve_queue(state, key_length, BEHIND_PASSES);
}
void policy_edf(struct plan_state *state)
{
    serve_queue(state, key_deadline, BEHIND_PASSES);
}
void policy_llf(struct plan_state *state)
{
    serve_queue(state, key_laxity, BEHIND_PASSES);
}
