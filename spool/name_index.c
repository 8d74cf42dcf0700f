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
#include "base/names.h"
#include "spool/day_names.h"

enum { MOST_DAYS = UINT16_MAX, MOST_SEARCHED = 16 /* names, in the files of names */ };

struct entry {
    uint64_t hash; /* of the name */
    char token[TOKEN_LENGTH];
    uint8_t state;
    uint16_t day; /* of done/: which of `days` */
};

struct name_index {
    const struct spool *spool;
    struct names *searched; /* names whose jobs of done/ are among the entries */
    struct entry *entries;  /* sorted by hash */
    size_t count, capacity;
    day_name *days;
    size_t day_count, day_capacity;
    bool read, has_done; /* the directories of jobs on their way; all of done/, too */
    bool is_sorted;
};

struct name_index *name_index_new(const struct spool *spool)
{
    struct name_index *index = memory_allocate(sizeof(*index));
    *index = (struct name_index){.spool = spool, .searched = names_new(MOST_SEARCHED, 0)};
    return index;
}

void name_index_clear(struct name_index *index)
{
    free(index->entries);
    free(index->days);
    for (void *name; (name = names_first(index->searched));)
        names_remove(index->searched, name);
    *index = (struct name_index){.spool = index->spool, .searched = index->searched};
}

void name_index_free(struct name_index *index)
{
    if (!index)
        return;
    name_index_clear(index);
    names_free(index->searched);
    free(index);
}

/* Days are read one after another, so that a day's number is that of the last, or a new one, which may be there
 * already. */
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

/* Read what is on its way.  Jobs move on meanwhile, and go back from failed/ and held/: so some directories again. */
static int read_moving(struct name_index *index, struct error *error)
{
    for (size_t i = 0; i < JOBS_LOOKS; i++) {
        enum state state = jobs_order[i];
        if (state != STATE_DONE && jobs_walk(index->spool, state, add_job, index))
            return error_errno(error, "%s/ could not be read", spool_state_name(state));
    }
    index->read = true;
    return 0;
}

/* Read of done/ what has that name; or all of it, once many names were looked for.  After the others, as jobs end
 * there. */
static int read_done(struct name_index *index, struct text name, struct error *error)
{
    char begin[ID_SIZE + 1];
    const struct text begins[] = {{begin, name.length + 1}};
    if (index->has_done || names_find(index->searched, name))
        return 0;
    snprintf(begin, sizeof(begin), "%.*s-", (int)name.length, name.data);
    index->is_sorted = false;
    index->has_done = !names_add(index->searched, name);
    if (index->has_done ? jobs_walk(index->spool, STATE_DONE, add_job, index)
                        : day_names_visit_done(index->spool, begins, 1, add_job, index))
        return error_errno(error, "done/ could not be read");
    return 0;
}

/* Have all entries that the name may have. */
static int read_for(struct name_index *index, struct text name, struct error *error)
{
    if ((!index->read && read_moving(index, error)) || read_done(index, name, error)) {
        name_index_clear(index);
        return -1;
    }
    if (!index->is_sorted && index->count)
        qsort(index->entries, index->count, sizeof(*index->entries), compare_hashes);
    index->is_sorted = true;
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
    if (read_for(index, name, error))
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
