/* spool/meant.c - finds the job that a word means */
#include "spool/meant.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "spool/day_names.h"

enum { MOST_LOOKS = 3, MOST_READ = 1000 };

struct places {
    struct job_place *items;
    size_t count, capacity;
};

struct candidate {
    struct job_place place;
    bool mine, applies;
};

struct search {
    const struct meaning *meaning;
    struct text word;
    char label[ID_SIZE];        /* the word in the form of an id; "" when it cannot be a name */
    struct places named, begun; /* jobs with the name `label`; with ids that begin with the word */
    struct candidate *candidates; /* newest first */
    size_t count;
    struct arena *arena;
};

static void add_place(struct places *places, const struct job_place *place)
{
    places->items =
        memory_grow(places->items, places->count, &places->capacity, sizeof(*places->items));
    places->items[places->count++] = *place;
}

static size_t name_length(const char *id)
{
    return strlen(id) - TOKEN_LENGTH - 1;
}

static int match_place(void *context, const struct job_place *place)
{
    struct search *search = context;
    size_t name = name_length(place->id);
    if (search->label[0] && strlen(search->label) == name &&
        memcmp(place->id, search->label, name) == 0)
        add_place(&search->named, place);
    if (strncmp(place->id, search->word.data, search->word.length) == 0 &&
        (!search->meaning->applies || search->word.length > name + 1))
        add_place(&search->begun, place);
    return 0;
}

static int compare_newest(const void *a, const void *b)
{
    const struct job_place *first = a, *second = b;
    int order = text_compare(id_token(text_of(second->id)), id_token(text_of(first->id)));
    return order ? order : strcmp(first->id, second->id);
}

/* Sort newest first, and keep a job that was seen in two places, because it moved, once: at the
 * later place. */
static void sort_places(struct places *places)
{
    size_t kept = 0;
    if (places->count)
        qsort(places->items, places->count, sizeof(*places->items), compare_newest);
    for (size_t i = 0; i < places->count; i++) {
        bool again = kept && strcmp(places->items[kept - 1].id, places->items[i].id) == 0;
        places->items[again ? kept - 1 : kept++] = places->items[i];
    }
    places->count = kept;
}

/* Find the job with that whole id; it may move meanwhile. */
static bool find_whole(const struct spool *spool, struct text id, struct job_place *place)
{
    return id_valid(id) &&
           (jobs_find_whole(spool, id, place) || jobs_find_done(spool, id, place) == 1 ||
            jobs_find_whole(spool, id, place));
}

/* ---- owners of candidates, and requests that apply ---- */

/* Does the record have the whole name?  Names that are too long for an id, or differ in
 * characters that an id lacks, have the same id. */
static bool has_name(const struct search *search, const struct job_record *record)
{
    return !record || !record->name.length || text_equal(record->name, search->word) ||
           text_is(search->word, search->label);
}

/* Open a job where it was seen; an index may be so old that it has moved on. */
static int open_seen(const struct meaning *meaning, const struct job_place *seen,
                     struct job_place *place)
{
    int job = job_open(meaning->spool, seen);
    *place = *seen;
    if (job >= 0 || errno != ENOENT || !meaning->index)
        return job;
    if (find_whole(meaning->spool, text_of(seen->id), place))
        return job_open(meaning->spool, place);
    errno = ENOENT;
    return -1;
}

/* Make a job a candidate, unless it is gone.  An unreadable one is a candidate, too. */
static bool look_at(struct search *search, const struct job_place *seen, bool by_name)
{
    const struct meaning *meaning = search->meaning;
    struct job_record buffer, *record = NULL;
    struct job_place place;
    int job = open_seen(meaning, seen, &place);
    if (job < 0 && errno != EACCES)
        return false;
    if (job >= 0) {
        record = record_read(job, search->arena, &buffer, NULL) ? NULL : &buffer;
        sys.close(job);
    }
    if (by_name && !has_name(search, record))
        return false;
    search->candidates[search->count++] = (struct candidate){
        .place = place,
        .mine = record && record->uid == meaning->asker,
        .applies = !meaning->applies || meaning->applies(meaning->context, &place, record)};
    arena_reset(search->arena);
    return true;
}

/* Read the candidates.  By name and without a request, stop at the asker's newest job. */
static void look_at_all(struct search *search, const struct places *places, bool by_name)
{
    size_t most = by_name ? MOST_READ : MEANT_LISTED;
    search->candidates =
        memory_resize(search->candidates, (places->count + 1) * sizeof(*search->candidates));
    for (size_t i = 0; i < places->count && search->count < most; i++) {
        if (!look_at(search, &places->items[i], by_name))
            continue;
        if (by_name && !search->meaning->applies && search->candidates[search->count - 1].mine) {
            search->candidates[0] = search->candidates[search->count - 1];
            search->count = 1;
            return;
        }
    }
}

static bool is_mine(const struct candidate *candidate)
{
    return candidate->mine;
}

static bool does_apply(const struct candidate *candidate)
{
    return candidate->applies;
}

/* Keep only the candidates that are `wanted`, if there are any. */
static void prefer_wanted(struct search *search, bool (*wanted)(const struct candidate *candidate))
{
    size_t any = 0, kept = 0;
    for (size_t i = 0; i < search->count; i++)
        any += wanted(&search->candidates[i]);
    for (size_t i = 0; any && i < search->count; i++)
        if (wanted(&search->candidates[i]))
            search->candidates[kept++] = search->candidates[i];
    search->count = any ? kept : search->count;
}

static int decide_meaning(struct search *search, bool by_name, struct meant *meant,
                          struct error *error)
{
    struct error_quote_buffer buffer;
    if (by_name)
        prefer_wanted(search, is_mine);
    if (by_name && search->meaning->applies) {
        prefer_wanted(search, does_apply);
        if (!search->candidates[0].applies)
            search->count = 1; /* to none: the refusal of the newest holds for all */
    }
    meant->total = by_name ? search->count : search->begun.count;
    for (size_t i = 0; i < search->count && i < MEANT_LISTED; i++)
        meant->places[meant->count++] = search->candidates[i].place;
    if (meant->total == 1)
        return 0;
    error_set(error, "%zu jobs have %s \"%s\"; %s", meant->total,
              by_name ? "the name" : "an id that starts with",
              error_quote(&buffer, search->word.data, search->word.length),
              by_name ? "say which by its id" : "give more of it");
    return 1;
}

/* The jobs of that name, and those whose id begins with the word, which has then all of the name and a hyphen. */
static int look_in_index(struct search *search, struct error *error)
{
    struct name_index *index = search->meaning->index;
    struct text label = text_of(search->label), begun = search->word;
    while (begun.length && begun.data[begun.length - 1] != '-')
        begun.length--;
    begun.length -= begun.length > 0;
    int result = name_index_visit(index, label, match_place, search, error);
    if (!result && !text_equal(label, begun))
        result = name_index_visit(index, begun, match_place, search, error);
    return result;
}

/* The same without an index.  A job that both find is kept once. */
static int look_in_directories(struct search *search, struct error *error)
{
    char name[ID_SIZE + 1];
    snprintf(name, sizeof(name), "%s-", search->label);
    size_t length = search->word.length;
    bool both = search->label[0] && strncmp(name, search->word.data, length) != 0;
    const struct text begins[] = {search->word, text_of(name)};
    return day_names_visit_all(search->meaning->spool, begins, both ? 2 : 1, match_place, search,
                               error);
}

static int search_all(struct search *search, struct meant *meant, struct error *error)
{
    struct error_quote_buffer buffer;
    const struct spool *spool = search->meaning->spool;
    if (search->meaning->index ? look_in_index(search, error) : look_in_directories(search, error))
        return -1;
    sort_places(&search->named);
    sort_places(&search->begun);
    look_at_all(search, &search->named, true);
    if (search->count)
        return decide_meaning(search, true, meant, error);
    look_at_all(search, &search->begun, false);
    if (search->count)
        return decide_meaning(search, false, meant, error);
    error_set(error, "there is no job \"%s\" in %s",
              error_quote(&buffer, search->word.data, search->word.length), spool->path);
    return 1;
}

int meant_job(const struct meaning *meaning, struct meant *meant, struct error *error)
{
    struct error_quote_buffer buffer;
    struct search search = {.meaning = meaning, .word = meaning->word};
    char id[ID_SIZE];
    *meant = (struct meant){.count = 0};
    if (search.word.length == 0 || search.word.length > NAME_MAX) {
        error_set(error, "\"%s\" is not the id or the name of a job",
                  error_quote(&buffer, search.word.data, search.word.length));
        return 1;
    }
    if (find_whole(meaning->spool, meaning->word, &meant->places[0])) {
        meant->count = meant->total = 1;
        return 0;
    }
    id_make(search.word, "0000000000000", id);
    snprintf(search.label, sizeof(search.label), "%.*s", (int)name_length(id), id);
    search.arena = arena_new();
    int result = 1;
    /* A job may have moved before it was read: look again. */
    for (int i = 0; i < MOST_LOOKS && result == 1 && meant->count == 0; i++) {
        search.named.count = search.begun.count = search.count = 0;
        result = search_all(&search, meant, error);
        if (search.named.count + search.begun.count == 0)
            break;
    }
    arena_free(search.arena);
    free(search.candidates);
    free(search.named.items);
    free(search.begun.items);
    return result;
}
