/* base/names.c - a bounded table of names, in the order in which they came
 *
 * One block of memory for each name: links, then the payload, then the name.  The table of
 * chains is doubled whenever there are more names than chains.
 */
#include "base/names.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { FIRST_CHAINS = 64, MOST_CHAINS = 1 << 24 };

struct entry {
    struct entry *chain; /* the next name in the same chain */
    struct entry *older, *younger;
    uint32_t hash;
    uint16_t length, payload; /* bytes of the name, and of the payload with padding */
    alignas(max_align_t) unsigned char bytes[];
};

struct names {
    size_t limit, count;
    uint16_t payload;
    uint32_t mask;
    struct entry *oldest, *youngest;
    struct entry **chains;
};

static struct entry *entry_of(void *payload)
{
    return (struct entry *)(void *)((unsigned char *)payload - offsetof(struct entry, bytes));
}

/* Double the chains.  A table for the largest number of names would be touched all over by the
 * first few, and take its full memory in each process. */
static void grow_chains(struct names *names)
{
    uint32_t mask = 2 * names->mask + 1;
    struct entry **chains = memory_allocate(((size_t)mask + 1) * sizeof(struct entry *));
    for (struct entry *entry = names->oldest; entry; entry = entry->younger) {
        entry->chain = chains[entry->hash & mask];
        chains[entry->hash & mask] = entry;
    }
    free(names->chains);
    names->chains = chains;
    names->mask = mask;
}

struct names *names_new(size_t limit, size_t payload)
{
    struct names *names = memory_allocate(sizeof(*names));
    size_t alignment = alignof(max_align_t);
    payload = (payload + alignment - 1) / alignment * alignment;
    *names = (struct names){.limit = limit,
                            .payload = (uint16_t)payload,
                            .mask = FIRST_CHAINS - 1,
                            .chains = memory_allocate(FIRST_CHAINS * sizeof(struct entry *))};
    return names;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    struct entry *entry = names->oldest;
    while (entry) {
        struct entry *younger = entry->younger;
        free(entry);
        entry = younger;
    }
    free(names->chains);
    free(names);
}

void *names_find(const struct names *names, struct text name)
{
    struct entry *entry = names->chains[(uint32_t)hash_secret(name) & names->mask];
    for (; entry; entry = entry->chain)
        if (text_equal(names_text(entry->bytes), name))
            return entry->bytes;
    return NULL;
}

void *names_add(struct names *names, struct text name)
{
    if (names->count >= names->limit || name.length > UINT16_MAX)
        return NULL;
    if (names->count > names->mask && names->mask < MOST_CHAINS - 1)
        grow_chains(names);
    struct entry *entry = memory_allocate(sizeof(*entry) + names->payload + name.length + 1);
    entry->hash = (uint32_t)hash_secret(name);
    entry->length = (uint16_t)name.length;
    entry->payload = names->payload;
    if (name.length) /* an empty text may have no bytes at all */
        memcpy(entry->bytes + entry->payload, name.data, name.length);
    entry->bytes[entry->payload + name.length] = '\0';

    struct entry **chain = &names->chains[entry->hash & names->mask];
    entry->chain = *chain;
    *chain = entry;
    entry->older = names->youngest;
    if (names->youngest)
        names->youngest->younger = entry;
    else
        names->oldest = entry;
    names->youngest = entry;
    names->count++;
    return entry->bytes;
}

void names_remove(struct names *names, void *payload)
{
    struct entry *entry = entry_of(payload);
    struct entry **link = &names->chains[entry->hash & names->mask];
    while (*link != entry)
        link = &(*link)->chain;
    *link = entry->chain;
    if (entry->older)
        entry->older->younger = entry->younger;
    else
        names->oldest = entry->younger;
    if (entry->younger)
        entry->younger->older = entry->older;
    else
        names->youngest = entry->older;
    names->count--;
    free(entry);
}

void *names_first(const struct names *names)
{
    return names->oldest ? names->oldest->bytes : NULL;
}

void *names_after(void *payload)
{
    struct entry *younger = entry_of(payload)->younger;
    return younger ? younger->bytes : NULL;
}

struct text names_text(const void *payload)
{
    const struct entry *entry =
        (const struct entry *)(const void *)((const unsigned char *)payload -
                                             offsetof(struct entry, bytes));
    return (struct text){(const char *)entry->bytes + entry->payload, entry->length};
}

size_t names_count(const struct names *names)
{
    return names->count;
}

bool names_full(const struct names *names)
{
    return names->count >= names->limit;
}
