/* watcher/names.c - a bounded table of file names, in the order in which they came
 *
 * One block of memory for each name: links, then the payload, then the name.  The table of
 * chains is as large as the limit, so chains stay short without ever being rebuilt.
 */
#include "watcher/names.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
    struct entry *chain;                /* the next one whose hash falls into the same place */
    struct entry *older, *younger;
    uint32_t place;
    uint16_t length, payload;           /* bytes of the name, and of the payload with padding */
    alignas(max_align_t) unsigned char bytes[];
};

struct names {
    size_t limit, count;
    uint16_t payload;
    uint64_t seed;
    uint32_t mask;
    struct entry *oldest, *youngest;
    struct entry **chains;
};

static struct entry *entry_of(void *payload)
{
    return (struct entry *)(void *)((unsigned char *)payload - offsetof(struct entry, bytes));
}

/* FNV-1a with a secret start, and its high bits mixed in at the end. */
static uint32_t place_of(const struct names *names, struct text name)
{
    uint64_t hash = names->seed;
    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32) & names->mask;
}

struct names *names_new(size_t limit, size_t payload)
{
    struct names *names = memory_allocate(sizeof(*names));
    size_t places = 64;
    while (places < limit && places < (size_t)1 << 24)
        places *= 2;
    size_t alignment = alignof(max_align_t);
    payload = (payload + alignment - 1) / alignment * alignment;
    *names = (struct names){.limit = limit,
                            .payload = (uint16_t)payload,
                            .mask = (uint32_t)(places - 1),
                            /* Zeroed as it comes, so that only what is used takes memory. */
                            .chains = memory_allocate(places * sizeof(struct entry *))};
    if (getrandom(&names->seed, sizeof(names->seed), GRND_NONBLOCK) != sizeof(names->seed))
        names->seed = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)names;
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
    struct entry *entry = names->chains[place_of(names, name)];
    for (; entry; entry = entry->chain)
        if (entry->length == name.length &&
            memcmp(entry->bytes + entry->payload, name.data, name.length) == 0)
            return entry->bytes;
    return NULL;
}

void *names_add(struct names *names, struct text name)
{
    if (names->count >= names->limit || name.length > UINT16_MAX)
        return NULL;
    struct entry *entry = memory_allocate(sizeof(*entry) + names->payload + name.length + 1);
    entry->place = place_of(names, name);
    entry->length = (uint16_t)name.length;
    entry->payload = names->payload;
    memcpy(entry->bytes + entry->payload, name.data, name.length);
    entry->bytes[entry->payload + name.length] = '\0';

    entry->chain = names->chains[entry->place];
    names->chains[entry->place] = entry;
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
    struct entry **link = &names->chains[entry->place];
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
