/* stages/resubmit/held_unheard.c - the names that jobs of held/ wait for, and that no job has yet
 *
 * Of each its family is kept, the beginning of the ids of jobs with that name (named_jobs.h), as a hash in a table
 * with open addressing; the lowest bit tells that a job of the family has come.  What is no longer waited for stays
 * until the table is made anew: it wakes nobody.  Two families with the same hash wake each other's jobs.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "stages/resubmit/held_parts.h"
#include "stages/resubmit/named_jobs.h"

enum { COME = 1, FEWEST = 4 };

static uint32_t hash_of(struct text family)
{
    uint32_t hash = (uint32_t)hash_secret(family) & ~(uint32_t)COME;
    return hash ? hash : COME + 1;
}

static uint32_t condition_hash(const struct held_condition *condition)
{
    char id[ID_SIZE];
    return hash_of(named_jobs_family(text_of(held_job_name(condition)), id));
}

/* Where it is, or would be. */
static uint32_t *find(const struct held_unheard *unheard, uint32_t hash)
{
    size_t at = (hash >> 1) & (unheard->capacity - 1);
    while (unheard->hashes[at] && (unheard->hashes[at] & ~(uint32_t)COME) != hash)
        at = (at + 1) & (unheard->capacity - 1);
    return &unheard->hashes[at];
}

static void insert(struct held_unheard *unheard, uint32_t hash)
{
    uint32_t *place = find(unheard, hash & ~(uint32_t)COME);
    unheard->count += !*place;
    *place |= hash;
}

/* Make it anew, for twice as many as are waited for. */
static void renew(struct held_jobs *jobs)
{
    struct held_unheard *unheard = &jobs->unheard, before = *unheard;
    unheard->capacity = FEWEST;
    while (unheard->capacity < 2 * unheard->conditions)
        unheard->capacity *= 2;
    unheard->hashes = memory_allocate(unheard->capacity * sizeof(*unheard->hashes));
    unheard->count = 0;
    for (struct held *held = names_first(jobs->jobs); held; held = names_after(held))
        for (size_t i = 0; i < held->count; i++)
            if (held->conditions[i].unheard)
                insert(unheard, condition_hash(&held->conditions[i]));
    for (size_t i = 0; i < before.capacity; i++)
        if (before.hashes[i] & COME && *find(unheard, before.hashes[i] & ~(uint32_t)COME))
            insert(unheard, before.hashes[i]);
    free(before.hashes);
}

void held_unheard_clear(struct held_jobs *jobs)
{
    free(jobs->unheard.hashes);
    jobs->unheard = (struct held_unheard){.conditions = jobs->unheard.conditions};
}

void held_unheard_set(struct held_jobs *jobs, struct held_condition *condition, bool is_unheard)
{
    struct held_unheard *unheard = &jobs->unheard;
    if (condition->unheard == is_unheard)
        return;
    condition->unheard = is_unheard;
    if (!is_unheard) {
        unheard->conditions--;
        return;
    }
    unheard->conditions++;
    if (unheard->capacity && (unheard->count + 1) * 4 <= unheard->capacity * 3)
        insert(unheard, condition_hash(condition));
    else
        renew(jobs);
}

void held_unheard_note(struct held_jobs *jobs, struct text id)
{
    struct held_unheard *unheard = &jobs->unheard;
    if (!unheard->count || !id_valid(id))
        return;
    uint32_t *place = find(unheard, hash_of(named_jobs_family_of(id)));
    unheard->any_come = unheard->any_come || *place;
    *place |= *place ? COME : 0;
}

static bool has_come(const struct held_unheard *unheard, const struct held_condition *condition)
{
    return condition->unheard && *find(unheard, condition_hash(condition)) & COME;
}

void held_unheard_wake(struct held_jobs *jobs)
{
    struct held_unheard *unheard = &jobs->unheard;
    if (!unheard->any_come)
        return;
    for (struct held *held = names_first(jobs->jobs); held; held = names_after(held))
        for (size_t i = 0; i < held->count && held->rests; i++)
            if (has_come(unheard, &held->conditions[i]))
                held_awake_add(jobs, held);
    for (size_t i = 0; i < unheard->capacity; i++)
        unheard->hashes[i] &= ~(uint32_t)COME;
    unheard->any_come = false;
}
