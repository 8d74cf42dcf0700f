/* web/job_list.c - the jobs that the query of a request selects, newest first */
#include "web/job_list.h"

#include <errno.h>
#include <strings.h>

#include "client/gather.h"

enum { USUAL_LIMIT = 50, LONGEST_LIMIT = 1000 }; /* jobs in a list */

/* A field of the query as a C string; NULL: not given. */
static const char *query_string(const struct exchange *exchange, const char *name)
{
    struct text value = exchange_query(exchange, name);
    return value.length ? arena_text(exchange->arena, value.data, value.length).data : NULL;
}

/* The filter that the query describes.  -1 and a sentence. */
static int read_filter(const struct exchange *exchange, struct job_filter *filter,
                       struct error *error)
{
    *filter = (struct job_filter){
        .mine = text_is(exchange_query(exchange, "mine"), "true"),
        .user = query_string(exchange, "owner"),
        .name = query_string(exchange, "name"),
        .state = query_string(exchange, "state"),
        .age = query_string(exchange, "since"),
    };
    return job_filter_prepare(filter, error);
}

/* Of the list: how many jobs at most.  -1 and a sentence. */
static int read_limit(const struct exchange *exchange, struct error *error)
{
    struct text word = exchange_query(exchange, "limit");
    if (!word.length)
        return USUAL_LIMIT;
    int64_t limit = text_number(word, LONGEST_LIMIT);
    if (limit > 0)
        return (int)limit;
    struct error_quote_buffer buffer;
    return error_set(error, "limit: found \"%s\", expected a number from 1 to %d",
                     error_quote(&buffer, word.data, word.length), LONGEST_LIMIT);
}

/* Does the job come after the one that the query's `after` names, newest first? */
static bool is_after(struct text after, const struct job_place *place)
{
    return !after.length || text_compare(id_token(text_of(place->id)), id_token(after)) < 0;
}

static bool contains(struct text text, struct text word)
{
    for (size_t i = 0; i + word.length <= text.length; i++)
        if (strncasecmp(text.data + i, word.data, word.length) == 0)
            return true;
    return false;
}

/* Does the word stand in what a list shows of the job, in letters of any case? */
static bool has_word(struct text word, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    if (!word.length || contains(text_of(view->place.id), word) || contains(view->why, word))
        return true;
    return view->readable && (contains(record->name, word) || contains(record->owner, word) ||
                              contains(record->queue, word) || contains(record->library, word) ||
                              contains(record->image, word));
}

static bool has_queue(struct text queue, const struct job_view *view)
{
    return !queue.length || (view->readable && text_equal(view->record.queue, queue));
}

int job_list_read(const struct exchange *exchange, struct job_list *list, struct error *error)
{
    struct job_filter filter;
    struct job_place place;
    struct waiting_file waiting;
    struct text after = exchange_query(exchange, "after"),
                queue = exchange_query(exchange, "queue"), word = exchange_query(exchange, "q");
    int limit = read_limit(exchange, error), result = 0;
    *list = (struct job_list){.more = false};
    if (limit < 0 || read_filter(exchange, &filter, error))
        return HTTP_BAD_REQUEST;
    waiting_read(exchange->spool, &waiting);
    struct gathering *gathering = gather_open(exchange->spool, &filter);
    list->views = arena_allocate(exchange->arena, (size_t)limit * sizeof(*list->views));
    while (gathering && list->count < (size_t)limit &&
           (result = gather_next(gathering, &place)) > 0) {
        struct job_view *view = &list->views[list->count];
        if (!is_after(after, &place) ||
            (view_read(exchange->spool, &place, exchange->arena, view) && errno != EACCES) ||
            !job_filter_takes(&filter, view) || !has_queue(queue, view) || !has_word(word, view))
            continue;
        view_take_waiting(view, &waiting, exchange->arena);
        list->count++;
    }
    list->more = result > 0;
    if (!gathering || result < 0)
        error_errno(error, "the jobs could not be read");
    if (gathering)
        gather_close(gathering);
    return !gathering || result < 0 ? HTTP_INTERNAL_ERROR : HTTP_OK;
}
