/* stages/resubmit/held_cycles.c - jobs of held/ that would wait for themselves */
#include <stdlib.h>

#include "stages/resubmit/cycles.h"
#include "stages/resubmit/held_parts.h"

/* Those that rest stand in no cycle (held_awake_follow()). */
static struct cycles *make_cycles(struct held_jobs *jobs)
{
    size_t count = 0, edges_count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += jobs->by_age[i]->count;
    struct cycle_edge *edges = memory_allocate((count + 1) * sizeof(*edges));
    for (size_t i = 0; i < jobs->count; i++) {
        const struct held *held = jobs->by_age[i];
        for (size_t k = 0; k < held->count && held_pass_waits_for_jobs(held); k++) {
            struct text id = held_job_id(&held->conditions[k]);
            const struct held *other = id.length ? names_find(jobs->jobs, id) : NULL;
            if (other && other->count && !other->rests && held_pass_waits_for_jobs(other))
                edges[edges_count++] = (struct cycle_edge){i, other->number};
        }
    }
    struct cycles *cycles = cycles_new(jobs->count, edges, edges_count);
    free(edges);
    cycles_find(cycles);
    return cycles;
}

static void refuse_cycle(struct held_jobs *jobs, struct held *held, const size_t *chain,
                         size_t length)
{
    enum { MOST_NAMED = 8 };
    struct buffer way = {0};
    if (length == 1) {
        held_pass_decide(held, HELD_REFUSED, "The job waits for itself.");
        return;
    }
    for (size_t i = 1; i <= length && i <= MOST_NAMED; i++)
        buffer_printf(&way, "%swaits for %s", i > 1 ? ", which " : "",
                      held_id(jobs->by_age[chain[i % length]]).data);
    if (length > MOST_NAMED)
        buffer_printf(&way, ", and so on through %zu jobs back to it", length);
    held_pass_decide(held, HELD_REFUSED, "The job would wait for itself: %s %s.",
                     held_id(held).data, way.data);
    buffer_free(&way);
}

/* The job that was found is refused, so older jobs of the cycle wait again for a job of that name. */
static void forget_refused(struct held_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct held *held = jobs->by_age[i];
        for (size_t k = 0; k < held->count; k++) {
            struct held_condition *condition = &held->conditions[k];
            const struct held *other =
                condition->found ? names_find(jobs->jobs, held_job_id(condition)) : NULL;
            if (other && other->decision == HELD_REFUSED && other->number > i)
                held_look_set_id(jobs, condition, TEXT(""));
        }
    }
}

void held_cycles_refuse(struct held_jobs *jobs)
{
    struct cycles *cycles = make_cycles(jobs);
    const size_t *chain;
    size_t length;
    bool any = false;
    for (size_t i = 0; i < jobs->count; i++) {
        any = any || jobs->by_age[i]->decision == HELD_REFUSED;
        if (cycles_closes(cycles, i, &chain, &length)) {
            refuse_cycle(jobs, jobs->by_age[i], chain, length);
            any = true;
        }
    }
    if (any)
        forget_refused(jobs);
    cycles_free(cycles);
}
