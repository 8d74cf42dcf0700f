/* stages/resubmit/held_awake.c - which jobs of held/ a pass looks at
 *
 * Those that do not rest stand in `by_age`, each at its `number`.
 */
#include <stdlib.h>

#include "stages/resubmit/held_parts.h"

enum { FEW_AWAKE = 1024 }; /* jobs */

void held_awake_add(struct held_jobs *jobs, struct held *held)
{
    if (!held->rests)
        return;
    held->rests = held->rests_until_time = false;
    jobs->by_age = memory_grow(jobs->by_age, jobs->kept, &jobs->capacity, sizeof(*jobs->by_age));
    held->number = (uint32_t)jobs->kept;
    jobs->by_age[jobs->kept++] = held;
    jobs->is_sorted = false;
}

void held_awake_remove(struct held_jobs *jobs, struct held *held)
{
    if (held->rests)
        return;
    struct held *last = jobs->by_age[--jobs->kept];
    jobs->by_age[held->number] = last;
    last->number = held->number;
    jobs->is_sorted = jobs->is_sorted && last == held;
}

static int compare_ages(const void *a, const void *b)
{
    const struct held *const *first = a, *const *second = b;
    return text_compare(id_token(held_id(*first)), id_token(held_id(*second)));
}

void held_awake_sort(struct held_jobs *jobs)
{
    if (!jobs->is_sorted && jobs->kept)
        qsort(jobs->by_age, jobs->kept, sizeof(*jobs->by_age), compare_ages);
    for (size_t i = 0; i < jobs->kept && !jobs->is_sorted; i++)
        jobs->by_age[i]->number = (uint32_t)i;
    jobs->is_sorted = true;
}

/* The first time after that one at which it is no longer as it is with the job by itself: its time has come, or it no
 * longer waits for a name.  0: there is none. */
static int64_t next_time(const struct held_jobs *jobs, const struct held *held, int64_t after)
{
    int64_t time = held->begin > after ? held->begin : 0;
    int64_t end = held->since + jobs->settings->after_unknown;
    for (size_t i = 0; i < held->count && end > after; i++)
        if (held->conditions[i].unheard && held->conditions[i].condition != AFTER_SINGLETON)
            time = time && time < end ? time : end;
    return time;
}

static void note_time(struct held_jobs *jobs, int64_t time)
{
    if (!jobs->next_time || time < jobs->next_time)
        jobs->next_time = time;
}

static void wake_due(struct held_jobs *jobs, int64_t now)
{
    jobs->next_time = 0;
    for (struct held *held = names_first(jobs->jobs); held; held = names_after(held)) {
        if (!held->rests_until_time)
            continue;
        int64_t time = next_time(jobs, held, 0);
        if (time <= now)
            held_awake_add(jobs, held);
        else
            note_time(jobs, time);
    }
}

static void wake_all(struct held_jobs *jobs)
{
    for (struct held *held = names_first(jobs->jobs); held; held = names_after(held))
        if (held->count && !held->released)
            held_awake_add(jobs, held);
    dependencies_doubt_all(jobs->dependencies);
}

static void wake_waiter(void *context, struct dependency_waiter *waiter)
{
    struct held_condition *condition = (struct held_condition *)(void *)waiter;
    held_awake_add(context, condition->held);
}

void held_awake_call(struct held_jobs *jobs, bool all, int64_t now)
{
    if (all)
        wake_all(jobs);
    if (jobs->next_time && jobs->next_time <= now)
        wake_due(jobs, now);
    held_unheard_wake(jobs);
    dependencies_look(jobs->dependencies, wake_waiter, jobs);
}

/* Only one for which another waits can stand in a cycle, and only with those that it waits for, and they, and so on. */
void held_awake_follow(struct held_jobs *jobs)
{
    for (size_t i = 0; i < jobs->kept; i++) {
        const struct held *held = jobs->by_age[i];
        if (!held->count || !held_pass_waits_for_jobs(held) ||
            !dependency_is_awaited(jobs->dependencies, held_id(held)))
            continue;
        for (size_t k = 0; k < held->count; k++) {
            struct held *other = names_find(jobs->jobs, held_job_id(&held->conditions[k]));
            if (other && other->count && !other->released)
                held_awake_add(jobs, other);
        }
    }
}

/* Is the job woken when it is no longer so with its condition? */
static bool is_told(const struct held_jobs *jobs, const struct held_condition *condition)
{
    if (condition->unheard || !condition->waits.on)
        return condition->unheard;
    enum dependency_state kind = dependency_of(jobs->dependencies, &condition->waits)->kind;
    if (condition->condition == AFTER_SINGLETON)
        return kind != DEPENDENCY_DONE && kind != DEPENDENCY_LOST && kind != DEPENDENCY_GONE;
    if (condition->condition == AFTER_BEGUN)
        return condition->holds || kind == DEPENDENCY_HELD || kind == DEPENDENCY_FAILED;
    return true;
}

void held_jobs_let_rest(struct held_jobs *jobs, struct held *held, int64_t now)
{
    bool rests = held->readable && (held->changed.tv_sec || held->changed.tv_nsec);
    for (size_t i = 0; i < held->count && rests && !held->released; i++)
        rests = is_told(jobs, &held->conditions[i]);
    int64_t time = rests ? next_time(jobs, held, now) : 0;
    held->rests = rests;
    held->rests_until_time = time > 0;
    if (time)
        note_time(jobs, time);
}

void held_jobs_leave_out_resting(struct held_jobs *jobs)
{
    size_t kept = 0;
    for (size_t i = 0; i < jobs->kept; i++) {
        struct held *held = jobs->by_age[i];
        if (held->rests)
            continue;
        held->number = (uint32_t)kept;
        jobs->by_age[kept++] = held;
    }
    jobs->count = jobs->kept = kept;
    if (jobs->capacity < FEW_AWAKE || kept > jobs->capacity / 4)
        return;
    jobs->capacity = kept < FEW_AWAKE / 2 ? FEW_AWAKE / 2 : kept;
    jobs->by_age = memory_resize(jobs->by_age, jobs->capacity * sizeof(*jobs->by_age));
}
