/* spool/usage_met.c - which attempts a reader of the accounts has met */
#include "spool/usage_met.h"

#include <stdlib.h>
#include <string.h>

struct usage_met_key {
    uint64_t low;  /* the token's lower 64 bits ... */
    uint64_t rest; /* ... its upper bit and the attempt, plus 1; 0: a free slot */
};

/* The digits of tokens (spool/id.h) as numbers; others do not come here. */
static uint64_t digit_value(char digit)
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    const char *found = strchr(digits, digit);
    return found ? (uint64_t)(found - digits) : 0;
}

static struct usage_met_key key_of(const struct usage *usage)
{
    struct text token = id_token(usage->id);
    struct usage_met_key key = {0};
    uint64_t upper = 0;
    for (size_t i = 0; i < token.length; i++) {
        upper = key.low >> 59;
        key.low = key.low << 5 | digit_value(token.data[i]);
    }
    key.rest = (upper << 32 | (uint64_t)usage->attempt) + 1;
    return key;
}

static struct usage_met_key *find_slot(const struct usage_met *met, struct usage_met_key key)
{
    size_t hash = (size_t)((key.low ^ key.rest * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 20);
    for (size_t slot = hash & (met->capacity - 1);; slot = (slot + 1) & (met->capacity - 1)) {
        struct usage_met_key *there = &met->slots[slot];
        if (!there->rest || (there->low == key.low && there->rest == key.rest))
            return there;
    }
}

static void grow(struct usage_met *met)
{
    struct usage_met larger = {.capacity = met->capacity ? met->capacity * 2 : 1024,
                               .count = met->count};
    larger.slots = memory_allocate(larger.capacity * sizeof(*larger.slots));
    for (size_t i = 0; i < met->capacity; i++)
        if (met->slots[i].rest)
            *find_slot(&larger, met->slots[i]) = met->slots[i];
    free(met->slots);
    *met = larger;
}

bool usage_met_add(struct usage_met *met, const struct usage *usage)
{
    struct usage_met_key key = key_of(usage);
    if (2 * (met->count + 1) > met->capacity)
        grow(met);
    struct usage_met_key *slot = find_slot(met, key);
    if (slot->rest)
        return true;
    *slot = key;
    met->count++;
    return false;
}

bool usage_met_has(const struct usage_met *met, const struct usage *usage)
{
    return met->capacity && find_slot(met, key_of(usage))->rest;
}

void usage_met_free(struct usage_met *met)
{
    free(met->slots);
    *met = (struct usage_met){0};
}
