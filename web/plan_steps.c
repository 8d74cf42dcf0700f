/* web/plan_steps.c - how much of a pool the last plan gives, from when it was made until its jobs are likely to end */
#include "web/plan_steps.h"

#include <stdlib.h>

static bool is_in(const struct planned_job *job, struct text pool)
{
    return job->amount > 0 && text_equal(job->pool, pool);
}

/* The latest end first, so that what is not foreseen comes before all. */
static int compare_ends(const void *a, const void *b)
{
    const struct planned_job *first = *(const struct planned_job *const *)a,
                             *second = *(const struct planned_job *const *)b;
    int64_t one = first->finish ? first->finish : INT64_MAX;
    int64_t other = second->finish ? second->finish : INT64_MAX;
    return (one < other) - (one > other);
}

static void add(struct plan_step *step, const struct planned_job *job, int64_t sign)
{
    *(job->deadline ? &step->due : &step->others) += sign * job->amount;
}

/* When the step begins at which a job ends: of many jobs, several end with the last of them. */
static int64_t step_of(int64_t end, int64_t start, int64_t apart)
{
    return end <= start ? start : start + (end - start + apart - 1) / apart * apart;
}

/* The steps of those jobs, which are sorted. */
static void make_steps(struct plan_steps *steps, const struct planned_job **jobs, size_t count,
                       int64_t start)
{
    bool many = count > PLAN_STEPS_MOST;
    int64_t apart = many ? (steps->until - start) / PLAN_STEPS_MOST + 1 : 1;
    struct plan_step *step = steps->items;
    *step = (struct plan_step){.from = start};
    for (size_t i = 0; i < count; i++)
        add(step, jobs[i], 1);
    while (count-- > 0 && jobs[count]->finish) {
        int64_t from = step_of(jobs[count]->finish, start, apart);
        if (from >= steps->until)
            break;
        if (from > step->from) {
            step[1] = (struct plan_step){from, step->due, step->others};
            step++;
        }
        add(step, jobs[count], -1);
    }
    steps->count = (size_t)(step - steps->items) + 1;
}

struct plan_steps plan_steps_of(const struct plan_file *plan, struct text pool, struct arena *arena)
{
    struct plan_steps steps = {.until = plan->time};
    const struct planned_job **jobs =
        arena_allocate(arena, (plan->job_count + 1) * sizeof(const struct planned_job *));
    size_t count = 0;
    for (size_t i = 0; i < plan->job_count; i++) {
        const struct planned_job *job = &plan->jobs[i];
        if (!is_in(job, pool))
            continue;
        jobs[count++] = job;
        steps.until = job->finish > steps.until ? job->finish : steps.until;
    }
    if (steps.until <= plan->time)
        return steps;
    qsort(jobs, count, sizeof(const struct planned_job *), compare_ends);
    steps.items = arena_allocate(arena, (PLAN_STEPS_MOST + 2) * sizeof(*steps.items));
    make_steps(&steps, jobs, count, plan->time);
    return steps;
}
