/* commands/pick.c - which job is meant by a word on the command line */
#include "commands/pick.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/options.h"

enum { MOST_LOOKS = 3, MOST_READ = 1000, MOST_LISTED = 10 };

struct places {
    struct job_place *items;
    size_t count, capacity;
};

struct search {
    const struct spool *spool;
    const char *word;
    size_t length;
    char label[ID_SIZE];        /* the word as the beginning of an id has it; "" when it is no name */
    bool strict;                /* something is to be done to the job: */
    enum control_verb verb;
    struct places named, begun; /* whose name is `label`; whose id begins with the word */
    struct job_view *views;     /* of those that are in question, newest first */
    size_t view_count, total;   /* read, and of all that there are */
    bool told;                  /* several: asking again does not help */
    struct arena *arena;
};

static void add_place(struct places *places, const struct job_place *place)
{
    if (places->count == places->capacity) {
        places->capacity = places->capacity ? places->capacity * 2 : 16;
        places->items =
            memory_resize(places->items, places->capacity * sizeof(*places->items));
    }
    places->items[places->count++] = *place;
}

static size_t name_length(const char *id)
{
    return strlen(id) - TOKEN_LENGTH - 1;
}

static int match(void *context, const struct job_place *place)
{
    struct search *search = context;
    size_t name = name_length(place->id);
    if (search->label[0] && strlen(search->label) == name &&
        memcmp(place->id, search->label, name) == 0)
        add_place(&search->named, place);
    else if (strncmp(place->id, search->word, search->length) == 0 &&
             (!search->strict || search->length > name + 1))
        add_place(&search->begun, place);
    return 0;
}

static int compare_newest(const void *a, const void *b)
{
    const struct job_place *first = a, *second = b;
    int order = text_compare(id_token(text_of(second->id)), id_token(text_of(first->id)));
    return order ? order : strcmp(first->id, second->id);
}

/* Newest first, and a job that was seen in two places, because it moved, once: where it was seen last. */
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

static bool is_whole_id(const struct spool *spool, const char *word, struct job_place *place)
{
    return id_valid(text_of(word)) &&
           (job_find_whole(spool, text_of(word), place) ||
            job_find_done(spool, text_of(word), place) == 1 ||
            job_find_whole(spool, text_of(word), place));       /* it moved on meanwhile */
}

/* ---- whose they are, and what can be done to them ---- */

/* Names that are too long for an id, or differ in what an id does not have, are not the same. */
static bool has_name(const struct search *search, const struct job_view *view)
{
    return !view->readable || !view->record.name.length ||
           text_is(view->record.name, search->word) ||
           strcmp(search->label, search->word) == 0;
}

static bool is_mine(const struct job_view *view)
{
    return view->readable && view->record.uid == getuid();
}

bool pick_applies(const struct spool *spool, const struct job_view *view, enum control_verb verb)
{
    struct wish wish;
    if (!control_allows(verb, &view->place, view->readable ? &view->record : NULL, NULL))
        return false;
    if (verb == CONTROL_KILL)
        return !view_has_ended(view);
    if (verb != CONTROL_HOLD && verb != CONTROL_RELEASE)
        return true;
    int job = job_open(spool, &view->place);
    bool held = job >= 0 && control_pending(job, CONTROL_HOLD, &wish) != 0;
    if (job >= 0)
        sys.close(job);
    return verb == CONTROL_HOLD ? !held : held;
}

static bool applies(const struct search *search, const struct job_view *view)
{
    return !search->strict || pick_applies(search->spool, view, search->verb);
}

/* Leave of the views only those that are `wanted`, if there is one. */
static void prefer(struct search *search,
                   bool (*wanted)(const struct search *, const struct job_view *))
{
    size_t kept = 0;
    bool *keep = memory_allocate(search->view_count + 1);
    for (size_t i = 0; i < search->view_count; i++)
        kept += keep[i] = wanted(search, &search->views[i]);
    if (kept) {
        kept = 0;
        for (size_t i = 0; i < search->view_count; i++)
            if (keep[i])
                search->views[kept++] = search->views[i];
        search->view_count = kept;
    }
    free(keep);
}

static bool is_wanted_mine(const struct search *search, const struct job_view *view)
{
    (void)search;
    return is_mine(view);
}

/* Read what the candidates are; of a name, until the caller's newest was met.  One that may not be read
 * is a candidate all the same. */
static void read_views(struct search *search, const struct places *places, bool by_name)
{
    size_t most = by_name ? MOST_READ : MOST_LISTED;
    search->views = memory_allocate((places->count + 1) * sizeof(*search->views));
    for (size_t i = 0; i < places->count && search->view_count < most; i++) {
        struct job_view view;
        int gone = view_read(search->spool, &places->items[i], search->arena, &view);
        if ((gone && errno != EACCES) || (by_name && !has_name(search, &view)))
            continue;
        search->views[search->view_count++] = view;
        if (by_name && !search->strict && is_mine(&view)) {
            search->views[0] = view;
            search->view_count = 1;
            return;
        }
    }
}

/* ---- saying which there are ---- */

static void list_candidates(const struct search *search, struct buffer *out)
{
    for (size_t i = 0; i < search->view_count && i < MOST_LISTED; i++) {
        const struct job_view *view = &search->views[i];
        char age[CLOCK_TEXT_SIZE];
        duration_format(clock_now() - id_time(text_of(view->place.id)), age);
        buffer_printf(out, "\n  %-*s  %-8s  %.*s  %s ago", ID_SIZE - 1, view->place.id,
                      job_state_name(view->situation.state), (int)view->record.owner.length,
                      view->record.owner.length ? view->record.owner.data : "-", age);
    }
    if (search->total > MOST_LISTED)
        buffer_printf(out, "\n  and %zu more", search->total - MOST_LISTED);
}

static int decide(struct search *search, bool by_name, struct job_place *place,
                  struct error *error)
{
    struct error_quote_room room;
    if (by_name)
        prefer(search, is_wanted_mine);
    if (by_name && search->strict) {
        size_t all = search->view_count;
        prefer(search, applies);
        if (search->view_count == all && all && !applies(search, &search->views[0]))
            search->view_count = 1;     /* to none: what is said of the newest is true of all */
    }
    search->total = by_name ? search->view_count : search->begun.count;
    if (search->total == 1) {
        *place = search->views[0].place;
        return STATUS_DONE;
    }
    struct buffer list = {0};
    list_candidates(search, &list);
    error_set(error, "%zu jobs have %s \"%s\"; %s:%s", search->total,
              by_name ? "the name" : "an id that starts with",
              error_quote(&room, search->word, search->length),
              by_name ? "say which by its id" : "give more of it", list.data);
    buffer_free(&list);
    search->told = true;
    return STATUS_NOT_FOUND;
}

static int search_all(struct search *search, struct job_place *place, struct error *error)
{
    struct error_quote_room room;
    for (int i = 0; i < STATE_COUNT; i++)
        if (jobs_walk(search->spool, (enum state)i, match, search)) {
            error_errno(error, "%s/ could not be read", state_name((enum state)i));
            return STATUS_FAILED;
        }
    sort_places(&search->named);
    sort_places(&search->begun);
    read_views(search, &search->named, true);
    if (search->view_count)
        return decide(search, true, place, error);
    free(search->views);
    read_views(search, &search->begun, false);
    if (search->view_count)
        return decide(search, false, place, error);
    error_set(error, "there is no job \"%s\" in %s",
              error_quote(&room, search->word, search->length), search->spool->path);
    return STATUS_NOT_FOUND;
}

static int find(struct search *search, struct job_place *place, struct error *error)
{
    struct error_quote_room room;
    char id[ID_SIZE];
    search->length = strlen(search->word);
    if (search->length == 0 || search->length > NAME_MAX) {
        error_set(error, "\"%s\" is not the id or the name of a job",
                  error_quote(&room, search->word, search->length));
        return STATUS_NOT_FOUND;
    }
    id_make(text_of(search->word), "0000000000000", id);
    snprintf(search->label, sizeof(search->label), "%.*s", (int)name_length(id), id);
    if (is_whole_id(search->spool, search->word, place))
        return STATUS_DONE;
    search->arena = arena_new();
    int status = STATUS_NOT_FOUND;
    /* What was seen may have moved on before it was read. */
    for (int i = 0; i < MOST_LOOKS && status == STATUS_NOT_FOUND; i++) {
        search->named.count = search->begun.count = search->view_count = 0;
        status = search_all(search, place, error);
        free(search->views);
        search->views = NULL;
        if (search->told || search->named.count + search->begun.count == 0)
            break;
    }
    arena_free(search->arena);
    free(search->named.items);
    free(search->begun.items);
    return status;
}

int pick_find(const struct spool *spool, const char *word, struct job_place *place,
              struct error *error)
{
    struct search search = {.spool = spool, .word = word};
    return find(&search, place, error);
}

int pick_job_for(const struct spool *spool, const char *word, enum control_verb verb,
                 struct job_place *place, struct error *error)
{
    struct search search = {.spool = spool, .word = word, .strict = true, .verb = verb};
    return find(&search, place, error);
}

int pick_job(const struct spool *spool, const char *word, struct job_place *place)
{
    struct error error;
    int status = pick_find(spool, word, place, &error);
    if (status != STATUS_DONE)
        complain("%s", error.text);
    return status;
}
