/* web/usage_api.c - /dlspool/v1/acct and /report: the accounts as the commands of these names print them
 *
 * Fields of the query are the options of the commands: starttime, endtime, user, all; of acct, id and state; of report,
 * by, which is its word.
 */
#include "web/usage_api.h"

#include "client/acct_tree.h"
#include "client/report.h"

/* ---- which attempts ---- */

/* A field of the query as an option that was given, or NULL. */
static const char *read_option(const struct exchange *exchange, const char *name)
{
    struct text value = exchange_query(exchange, name);
    return value.length ? arena_text(exchange->arena, value.data, value.length).data : NULL;
}

/* Without a reply, the filter is prepared; false after one. */
static bool read_filter(struct exchange *exchange, struct usage_filter *filter)
{
    struct error error;
    *filter = (struct usage_filter){.all = text_is(exchange_query(exchange, "all"), "true"),
                                    .users = read_option(exchange, "user"),
                                    .states = read_option(exchange, "state"),
                                    .start = read_option(exchange, "starttime"),
                                    .end = read_option(exchange, "endtime")};
    if (usage_filter_prepare(filter, exchange->spool, &error) == 0)
        return true;
    bool of_option = text_starts(text_of(error.text), "--"); /* the query has it without these */
    exchange_reply_problem(exchange, of_option ? HTTP_BAD_REQUEST : HTTP_INTERNAL_ERROR,
                           error.text + (of_option ? 2 : 0));
    return false;
}

/* ---- attempts ---- */

struct accounting {
    struct usage_filter filter;
    struct text id; /* empty: of all jobs */
    struct buffer out;
    size_t count;
};

static int take_attempt(void *context, const struct usage *usage)
{
    struct accounting *accounting = context;
    if (!usage_filter_takes(&accounting->filter, usage) ||
        !text_starts(usage->id, accounting->id.data))
        return 0;
    if (accounting->count == USAGE_API_MOST)
        return 1;
    struct arena *arena = arena_new();
    buffer_add_byte(&accounting->out, accounting->count++ ? ',' : '[');
    exchange_add_json(&accounting->out, acct_tree(arena, usage));
    arena_free(arena);
    return 0;
}

static void show_attempts(struct exchange *exchange)
{
    const char *id = read_option(exchange, "id");
    struct accounting accounting = {.id = text_of(id ? id : "")};
    struct error error;
    if (!read_filter(exchange, &accounting.filter))
        return;
    int result = usage_scan(exchange->spool, usage_filter_since(&accounting.filter), take_attempt,
                            &accounting, &error);
    if (result) {
        if (result > 0)
            error_set(&error, "there are more than %d attempts; ask for those of less time",
                      USAGE_API_MOST);
        exchange_reply_problem(exchange, result > 0 ? HTTP_BAD_REQUEST : HTTP_INTERNAL_ERROR,
                               error.text);
        buffer_free(&accounting.out);
        return;
    }
    buffer_add_string(&accounting.out, accounting.count ? "]\n" : "[]\n");
    exchange_reply_text(exchange, HTTP_OK, "application/json",
                        arena_take(exchange->arena, &accounting.out));
}

/* ---- sums ---- */

static void show_report(struct exchange *exchange)
{
    struct report report = {.kind = REPORT_UTILIZATION};
    struct error error;
    if (report_read_kind(exchange_query(exchange, "by"), &report.kind, &error)) {
        error_prefix(&error, "by");
        exchange_reply_problem(exchange, HTTP_BAD_REQUEST, error.text);
        return;
    }
    if (!read_filter(exchange, &report.filter))
        return;
    if (report_make(&report, exchange->spool, &error))
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, error.text);
    else
        exchange_reply_json(exchange, HTTP_OK, report_tree(exchange->arena, &report));
    report_free(&report);
}

const struct route usage_api_routes[] = {
    {"GET", "/dlspool/v1/acct?id state starttime endtime user all=true|false", show_attempts},
    {"GET", "/dlspool/v1/report?by state starttime endtime user all=true|false", show_report},
    {.pattern = NULL}};
