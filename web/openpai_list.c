/* web/openpai_list.c - the jobs that a query of OpenPAI's clients selects, as JSON */
#include "web/openpai_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "client/gather.h"
#include "web/openpai_job.h"

enum { USUAL_LIMIT = 5000, LONGEST_LIMIT = 50000 };

struct query {
    struct text users, clusters, states, keyword, user;
    int64_t offset, limit;
    bool count;      /* the reply tells how many there are in all */
    const char *key; /* of the member by which they are ordered; NULL: newest first */
    bool ascending;
};

/* A job of the list: its text, and what orders it. */
struct item {
    size_t start, length, place;
    double number;
    struct text word;
    bool ascending;
};

/* ---- the query ---- */

/* The number of a field, or `usual`; -1 and a sentence. */
static int64_t read_number(const struct exchange *exchange, const char *name, int64_t usual,
                           int64_t most, struct error *error)
{
    struct text word = exchange_query(exchange, name);
    struct error_quote_buffer buffer;
    int64_t number = word.length ? text_number(word, most) : usual;
    if (number < 0)
        error_set(error, "%s: found \"%s\", expected a number up to %lld", name,
                  error_quote(&buffer, word.data, word.length), (long long)most);
    return number;
}

/* The order that is asked for; an unknown one is not heeded, as OpenPAI does. */
static void read_order(struct text order, struct query *query)
{
    static const char *const fields[][2] = {{"jobName", "name"},
                                            {"submissionTime", "submissionTime"},
                                            {"username", "username"},
                                            {"vc", "virtualCluster"},
                                            {"retries", "retries"},
                                            {"totalTaskNumber", "totalTaskNumber"},
                                            {"totalGpuNumber", "totalGpuNumber"},
                                            {"state", "state"},
                                            {"completionTime", "completedTime"},
                                            {"jobPriority", "jobPriority"}};
    struct text field = TEXT("");
    text_next(&order, ',', &field);
    query->ascending = text_is(order, "ASC");
    if (!query->ascending && !text_is(order, "DESC"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        if (text_is(field, fields[i][0]))
            query->key = fields[i][1];
}

static int read_query(const struct exchange *exchange, struct query *query, struct error *error)
{
    query->users = exchange_query(exchange, "username");
    query->clusters = exchange_query(exchange, "vc");
    query->states = exchange_query(exchange, "state");
    query->keyword = exchange_query(exchange, "keyword");
    query->count = text_is(exchange_query(exchange, "withTotalCount"), "true");
    query->offset = read_number(exchange, "offset", 0, INT32_MAX, error);
    query->limit = read_number(exchange, "limit", USUAL_LIMIT, LONGEST_LIMIT, error);
    read_order(exchange_query(exchange, "order"), query);
    return query->offset < 0 || query->limit < 0 ? -1 : 0;
}

/* ---- the jobs ---- */

/* Is the word one of a list with commas?  An empty list has all. */
static bool is_listed(struct text list, struct text word)
{
    struct text rest = list, item;
    while (rest.length && text_next(&rest, ',', &item))
        if (text_equal(text_trim(item), word))
            return true;
    return list.length == 0;
}

static bool is_selected(const struct query *query, const struct job_view *view)
{
    struct text owner = view->record.owner;
    struct text cluster = view->record.queue.length ? view->record.queue : TEXT("default");
    return view->readable && (!query->user.length || text_equal(owner, query->user)) &&
           is_listed(query->users, owner) && is_listed(query->clusters, cluster) &&
           is_listed(query->states, text_of(openpai_job_state(view))) &&
           (!query->keyword.length || text_contains(owner, query->keyword) ||
            text_contains(view->record.name, query->keyword) ||
            text_contains(cluster, query->keyword));
}

struct list {
    struct arena *arena; /* of the exchange */
    struct buffer json;
    struct item *items;
    size_t count, capacity, total;
};

/* Add a job, whose view is in an arena of its own. */
static void add_job(struct list *list, const struct exchange *exchange, const struct query *query,
                    struct arena *arena, const struct job_view *view)
{
    struct value *tree = openpai_job_summary(exchange->spool, arena, view);
    struct item item = {
        .start = list->json.length, .place = list->count, .ascending = query->ascending};
    if (query->key) {
        struct text word = value_get_text(tree, query->key);
        item.number = value_get_number(tree, query->key, 0);
        item.word = arena_text(list->arena, word.data, word.length);
    }
    json_write(&list->json, tree, false, NULL);
    item.length = list->json.length - item.start;
    list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(item));
    list->items[list->count++] = item;
}

static int compare_items(const void *a, const void *b)
{
    const struct item *first = a, *second = b;
    int order = first->number < second->number   ? -1
                : first->number > second->number ? 1
                                                 : text_compare(first->word, second->word);
    order = first->ascending ? order : -order;
    return order ? order : first->place < second->place ? -1 : 1;
}

/* Newest first without an order, so what comes before the offset and after the limit need not be read where nobody
 * wants to know how many there are. */
static int gather(const struct exchange *exchange, const struct query *query, struct list *list)
{
    struct job_filter filter = {.mine = false};
    struct job_place place;
    struct job_view view;
    struct gathering *gathering = gather_open(exchange->spool, &filter);
    struct arena *arena = arena_new();
    int result = gathering ? 0 : -1;
    int64_t enough = query->key || query->count ? INT64_MAX : query->offset + query->limit;
    while (gathering && (int64_t)list->total < enough &&
           (result = gather_next(gathering, &place)) > 0) {
        arena_reset(arena);
        if (view_read(exchange->spool, &place, arena, &view) || !is_selected(query, &view))
            continue;
        list->total++;
        bool shown = (int64_t)list->total > query->offset && (int64_t)list->count < query->limit;
        if (query->key || shown)
            add_job(list, exchange, query, arena, &view);
    }
    int keep = errno;
    arena_free(arena);
    if (gathering)
        gather_close(gathering);
    errno = keep;
    return result < 0 ? -1 : 0;
}

/* The items that are wanted, as a list of JSON. */
static void write_list(const struct query *query, const struct list *list, struct buffer *out)
{
    size_t from = query->key ? (size_t)query->offset : 0;
    buffer_add_byte(out, '[');
    for (size_t i = from; i < list->count && i - from < (size_t)query->limit; i++) {
        if (i > from)
            buffer_add_byte(out, ',');
        buffer_add(out, list->json.data + list->items[i].start, list->items[i].length);
    }
    buffer_add_byte(out, ']');
}

int openpai_list_read(const struct exchange *exchange, struct text user, struct text *json,
                      struct error *error)
{
    struct query query = {.user = user};
    struct list list = {.arena = exchange->arena};
    struct buffer out = {0};
    if (read_query(exchange, &query, error))
        return HTTP_BAD_REQUEST;
    int result = gather(exchange, &query, &list);
    if (result)
        error_errno(error, "the jobs could not be read");
    if (query.key && list.count)
        qsort(list.items, list.count, sizeof(*list.items), compare_items);
    if (query.count)
        buffer_printf(&out, "{\"totalCount\":%zu,\"data\":", list.total);
    write_list(&query, &list, &out);
    if (query.count)
        buffer_add_byte(&out, '}');
    *json = arena_take(exchange->arena, &out);
    free(list.items);
    buffer_free(&list.json);
    return result ? HTTP_INTERNAL_ERROR : HTTP_OK;
}
