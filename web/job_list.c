/* web/job_list.c - the jobs that the query of a request selects, newest first */
#include "web/job_list.h"

#include <errno.h>
#include <strings.h>

#include "client/gather.h"
#include "web/archived_jobs.h"

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

struct asked {
    const struct exchange *exchange;
    struct job_filter filter;
    struct text after, queue, word;
    struct job_list *list;
    size_t limit;
};

/* Is the job one of those that were asked for? */
static bool is_asked(const struct asked *asked, const struct job_view *view)
{
    return job_filter_takes(&asked->filter, view) && has_queue(asked->queue, view) &&
           has_word(asked->word, view);
}

/* ---- archived jobs ---- */

/* Archived jobs come by the days of their ends, so those after `after` are what follows it there. */
static bool take_archived(void *context, const struct job_view *view)
{
    struct asked *asked = context;
    struct job_list *list = asked->list;
    if (asked->after.length) {
        if (text_equal(asked->after, text_of(view->place.id)))
            asked->after.length = 0;
        return true;
    }
    if (!job_filter_may_take(&asked->filter, &view->place) || !is_asked(asked, view))
        return true;
    list->more = list->count == asked->limit;
    if (list->more)
        return false;
    list->views[list->count] = *view;
    archived_jobs_keep(&list->views[list->count++], asked->exchange->arena);
    return true;
}

/* ---- jobs of the spool ---- */

static int read_jobs(struct asked *asked, struct error *error)
{
    const struct exchange *exchange = asked->exchange;
    struct job_list *list = asked->list;
    struct job_place place;
    struct waiting_file waiting;
    int result = 0;
    waiting_read(exchange->spool, &waiting);
    struct gathering *gathering = gather_open(exchange->spool, &asked->filter);
    while (gathering && list->count < asked->limit &&
           (result = gather_next(gathering, &place)) > 0) {
        struct job_view *view = &list->views[list->count];
        if (!is_after(asked->after, &place) ||
            (view_read(exchange->spool, &place, exchange->arena, view) && errno != EACCES) ||
            !is_asked(asked, view))
            continue;
        view_take_waiting(view, &waiting, exchange->arena);
        list->count++;
    }
    list->more = result > 0;
    if (!gathering || result < 0)
        error_errno(error, "the jobs could not be read");
    if (gathering)
        gather_close(gathering);
    return !gathering || result < 0 ? -1 : 0;
}

int job_list_read(const struct exchange *exchange, struct job_list *list, struct error *error)
{
    struct asked asked = {.exchange = exchange,
                          .after = exchange_query(exchange, "after"),
                          .queue = exchange_query(exchange, "queue"),
                          .word = exchange_query(exchange, "q"),
                          .list = list};
    int limit = read_limit(exchange, error), result;
    *list = (struct job_list){.more = false};
    if (limit < 0 || read_filter(exchange, &asked.filter, error))
        return HTTP_BAD_REQUEST;
    asked.limit = (size_t)limit;
    list->views = arena_allocate(exchange->arena, asked.limit * sizeof(*list->views));
    if (text_is(exchange_query(exchange, "archived"), "true"))
        result =
            archived_jobs_walk(exchange->spool, asked.filter.since, take_archived, &asked, error);
    else
        result = read_jobs(&asked, error);
    return result ? HTTP_INTERNAL_ERROR : HTTP_OK;
}
