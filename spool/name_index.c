/* spool/name_index.c - the jobs of all directories by name, read once for many words
 *
 * A job is kept as a hash of its name and its token: its id is these two, when somebody asks for the name.  Two
 * names may have one hash, so there may be no job of that id; whoever opens it finds out.
 */
#include "spool/name_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { MOST_DAYS = UINT16_MAX };

struct entry {
    uint64_t hash; /* of the name */
    char token[TOKEN_LENGTH];
    uint8_t state;
    uint16_t day; /* of done/: which of `days` */
};

struct name_index {
    const struct spool *spool;
    struct entry *entries; /* sorted by hash */
    size_t count, capacity;
    day_name *days;
    size_t day_count, day_capacity;
    bool read;
};

struct name_index *name_index_new(const struct spool *spool)
{
    struct name_index *index = memory_allocate(sizeof(*index));
    *index = (struct name_index){.spool = spool};
    return index;
}

void name_index_clear(struct name_index *index)
{
    free(index->entries);
    free(index->days);
    *index = (struct name_index){.spool = index->spool};
}

void name_index_free(struct name_index *index)
{
    if (!index)
        return;
    name_index_clear(index);
    free(index);
}

/* Days are read one after another, so that a day's number is that of the last, or a new one. */
static uint16_t number_of_day(struct name_index *index, const char *date)
{
    if (index->day_count && strcmp(index->days[index->day_count - 1], date) == 0)
        return (uint16_t)(index->day_count - 1);
    if (index->day_count == MOST_DAYS)
        return MOST_DAYS - 1;
    index->days =
        memory_grow(index->days, index->day_count, &index->day_capacity, sizeof(*index->days));
    memcpy(index->days[index->day_count], date, sizeof(*index->days));
    return (uint16_t)index->day_count++;
}

static int add_job(void *context, const struct job_place *place)
{
    struct name_index *index = context;
    struct text id = text_of(place->id);
    struct text name = {id.data, id.length - TOKEN_LENGTH - 1};
    index->entries =
        memory_grow(index->entries, index->count, &index->capacity, sizeof(*index->entries));
    struct entry *entry = &index->entries[index->count++];
    *entry = (struct entry){.hash = hash_secret(name), .state = (uint8_t)place->state};
    memcpy(entry->token, id_token(id).data, TOKEN_LENGTH);
    if (place->state == STATE_DONE)
        entry->day = number_of_day(index, place->date);
    return 0;
}

static int compare_hashes(const void *a, const void *b)
{
    const struct entry *first = a, *second = b;
    return (first->hash > second->hash) - (first->hash < second->hash);
}

static int read_all(struct name_index *index, struct error *error)
{
    if (index->read)
        return 0;
    if (jobs_walk_all(index->spool, add_job, index, error)) {
        name_index_clear(index);
        return -1;
    }
    if (index->count)
        qsort(index->entries, index->count, sizeof(*index->entries), compare_hashes);
    index->read = true;
    return 0;
}

/* The first entry with that hash or a higher one. */
static size_t find_hash(const struct name_index *index, uint64_t hash)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int name_index_visit(struct name_index *index, struct text name, job_visit *visit, void *context,
                     struct error *error)
{
    if (name.length == 0 || name.length > ID_NAME_LENGTH)
        return 0;
    if (read_all(index, error))
        return -1;
    uint64_t hash = hash_secret(name);
    int result = 0;
    for (size_t at = find_hash(index, hash);
         at < index->count && index->entries[at].hash == hash && !result; at++) {
        const struct entry *entry = &index->entries[at];
        struct job_place place = {.state = (enum state)entry->state};
        snprintf(place.id, sizeof(place.id), "%.*s-%.*s", (int)name.length, name.data, TOKEN_LENGTH,
                 entry->token);
        if (place.state == STATE_DONE)
            memcpy(place.date, index->days[entry->day], sizeof(place.date));
        result = visit(context, &place);
    }
    return result;
}
