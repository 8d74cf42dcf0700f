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
    held->rests = false;
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
