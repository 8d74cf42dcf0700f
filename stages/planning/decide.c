/* stages/planning/decide.c - asks the planner, pool by pool */
#include "stages/planning/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/policy.h"
#include "planner/state_text.h"
#include "stages/guard.h"
#include "stages/planning/budget.h"
#include "stages/planning/recording.h"
#include "stages/stage.h"

enum { UNBOUNDED = 1 << 30 }; /* the capacity of a pool whose capacity is unknown */

/* Predictions for two jobs that are alike differ by less than this: plan_state.sticky. */
static const double STICKY = 2;

/* ---- ties ---- */

static int by_turn(const void *a, const void *b)
{
    const struct cached_job *first = *(struct cached_job *const *)a;
    const struct cached_job *second = *(struct cached_job *const *)b;
    if (first->record.uid != second->record.uid)
        return first->record.uid < second->record.uid ? -1 : 1;
    if (first->record.priority != second->record.priority)
        return first->record.priority > second->record.priority ? -1 : 1;
    /* 0 means no turn, and comes last. */
    uint64_t due = (uint64_t)first->record.deadline - 1,
             later = (uint64_t)second->record.deadline - 1;
    if (due != later)
        return due < later ? -1 : 1;
    const char *one = job_cache_id(first), *other = job_cache_id(second);
    int order = text_compare(id_token(text_of(one)), id_token(text_of(other)));
    return order ? order : strcmp(one, other);
}

/* The places of the jobs of a pool, which stand in the order of by_turn(): by what their owners have used, with what
 * runs, which has its charge already. */
static void place_by_shares(struct decayed_use *shares, const struct pool *pool,
                            struct sharing_turn *turns)
{
    for (size_t i = 0; i < pool->count; i++) {
        const struct cached_job *job = pool->jobs[i];
        decayed_use_note(shares, job->record.uid, job->record.gid);
        turns[i] = (struct sharing_turn){
            .uid = job->record.uid,
            .amount = job->state == STATE_RENDERED ? decayed_use_amount(shares, &job->record) : 0,
            .age = id_token(text_of(job_cache_id(job)))};
    }
    decayed_use_place(shares, turns, pool->count);
}

/* ... or by turns: how many jobs of its owner go before each. */
static void place_by_turns(const struct pool *pool, struct sharing_turn *turns)
{
    for (size_t i = 0; i < pool->count; i++) {
        bool same = i > 0 && pool->jobs[i - 1]->record.uid == pool->jobs[i]->record.uid;
        turns[i].place = same ? turns[i - 1].place + 1 : 0;
    }
}

/* Ties are broken by a key: standing first (stages/planning/overdue.h), then whose turn is overdue the longest, then in
 * turns of the owners, or as they share by what they have used, of each the earliest deadline or else the oldest job;
 * nobody gains by how they name their jobs. */
static void make_keys(struct decayed_use *shares, struct pool *pool)
{
    enum { MOST_PLACE = 999999, ABOVE_ALL = 300 };
    struct sharing_turn *turns = memory_allocate((pool->count + 1) * sizeof(*turns));
    qsort(pool->jobs, pool->count, sizeof(struct cached_job *), by_turn);
    if (shares)
        place_by_shares(shares, pool, turns);
    else
        place_by_turns(pool, turns);
    for (size_t i = 0; i < pool->count; i++) {
        struct cached_job *job = pool->jobs[i];
        const char *id = job_cache_id(job);
        struct text token = id_token(text_of(id));
        int64_t seconds = job->overdue / 1000;
        int place = job->overdue ? MOST_PLACE - (int)(seconds < MOST_PLACE ? seconds : MOST_PLACE)
                    : turns[i].place < MOST_PLACE ? (int)turns[i].place
                                                  : MOST_PLACE;
        snprintf(job->key, sizeof(job->key), "%03d-%06d-%.*s.%.*s", ABOVE_ALL - job->standing,
                 place, (int)token.length, token.data,
                 (int)(token.data - id > 0 ? token.data - id - 1 : 0), id);
    }
    free(turns);
}

/* ---- a pool ---- */

static void ask_planner(struct planning *planning, const struct pool *pool,
                        struct plan_state *state, const char *const *names)
{
    struct buffer plan = {0};
    if (!planning->stage->settings.planner_record) {
        policy_max_met(state);
        return;
    }
    struct state_text *text = state_text_begin(state, pool->name, names);
    policy_max_met(state);
    state_text_end(text, state, &plan);
    recording_append(planning->stage, buffer_text(&plan));
    buffer_free(&plan);
}

/* Plan one pool: ask the planner's policy with all jobs but those that may not pass the first, and note the
 * size that each job gets next. */
static void decide_pool(struct planning *planning, struct pool *pool, int capacity)
{
    const struct settings *settings = &planning->stage->settings;
    struct budget budget;
    struct plan_job **jobs = memory_allocate((pool->count + 1) * sizeof(struct plan_job *));
    const char **names = memory_allocate((pool->count + 1) * sizeof(const char *));
    budget_make(&budget, pool, runs_history(planning->runs), capacity, settings->planner_budget,
                planning->now);
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++) {
        struct cached_job *job = pool->jobs[i];
        job->plan.finish = (double)INFINITY;
        job->plan.deadline_status = DEADLINE_BEST_EFFORT;
        if (job->behind || job->over)
            continue;
        jobs[count] = &job->plan;
        names[count++] = job_cache_id(job);
    }
    struct plan_state state = {.now = (double)planning->now / 1000,
                               .capacity = capacity,
                               .guard = (double)settings->planner_tick / 1000,
                               .reserve = settings->planner_reserve / 100.0,
                               .sticky = STICKY,
                               .tokens = budget.tokens,
                               .token_count = budget.count,
                               .jobs = jobs,
                               .job_count = count};
    ask_planner(planning, pool, &state, names);
    for (size_t i = 0; i < pool->count; i++) {
        struct cached_job *job = pool->jobs[i];
        bool stays = job->plan.kept && job->plan.size > 0;
        job->next = stays ? job->size : forecast_size(job, job->plan.give);
    }
    budget_free(&budget);
    free(jobs);
    free(names);
}

static void add_line(struct arena *arena, struct plan_file *lines, const struct pool *pool,
                     int64_t capacity)
{
    struct planned_pool *line = &lines->pools[lines->pool_count++];
    *line = (struct planned_pool){text_of(arena_string(arena, pool->name)), capacity, 0};
    for (size_t i = 0; i < pool->count; i++)
        line->used += pool->jobs[i]->plan.size;
}

static void forecast_guarded(struct cached_job *job, const struct forecast_terms *terms)
{
    struct guard_before before;
    if (!guard_begin(guard_own(), job_cache_id(job), &before))
        return;
    forecast_job(job, terms);
    guard_return(guard_own(), &before);
}

void planning_decide(struct planning *planning, struct arena *arena, struct plan_file *lines)
{
    struct capacity left = planning->left;
    struct forecast_terms terms = {.now = planning->now,
                                   .runs = planning->runs,
                                   .overdue = planning->overdue,
                                   .dwell = planning->stage->settings.planner_dwell,
                                   .as_they_are = !planning->told};
    struct pools pools;
    pools_sort(&pools, planning->job_cache, &left, job_cache_takes_part);
    lines->pools = arena_allocate(arena, (pools.count + 1) * sizeof(*lines->pools));
    for (size_t i = 0; i < pools.count; i++) {
        make_keys(planning->shares, &pools.items[i]);
        for (size_t k = 0; k < pools.items[i].count; k++)
            forecast_guarded(pools.items[i].jobs[k], &terms);
    }
    planning_rows_look(planning);
    planning_first_keep(planning);
    for (size_t i = 0; i < pools.count; i++) {
        struct pool *pool = &pools.items[i];
        int capacity = planning->told ? pool_capacity(pool, &left) : UNBOUNDED;
        decide_pool(planning, pool, capacity);
        pool_take(pool, &left);
        add_line(arena, lines, pool, planning->told ? capacity : -1);
    }
    pools_free(&pools);
}
