/* web/plan_api.c - /dlspool/v1/plan: what a commit of the templates would change
 *
 * Fields of the query are the options of `dlspool plan`: days, against, limit, within; and revision, which is its word.
 */
#include "web/plan_api.h"

#include "base/clock.h"
#include "base/duration.h"
#include "client/preview_tree.h"
#include "client/templates.h"
#include "spool/settings.h"

enum { USUAL_DAYS = 7, MOST_DAYS = 3650, MOST_JOBS = 100000 };
static const int64_t usual_within = 2000, longest_within = 5000; /* milliseconds */

/* A number of the query from 1 to `most`, which is also what it is when it is not given.  -1 after a reply. */
static int64_t read_number(struct exchange *exchange, const char *name, int64_t usual, int64_t most)
{
    struct text word = exchange_query(exchange, name);
    int64_t number = word.length ? text_number(word, most) : usual;
    if (number > 0)
        return number;
    exchange_reply_problem(
        exchange, HTTP_BAD_REQUEST,
        arena_printf(exchange->arena, "%s: expected a number from 1 to %lld", name, (long long)most)
            .data);
    return -1;
}

/* False after a reply. */
static bool read_within(struct exchange *exchange, int64_t *within)
{
    struct text word = exchange_query(exchange, "within");
    *within = usual_within;
    if (!word.length || (!duration_parse(word, within) && *within > 0 && *within <= longest_within))
        return true;
    exchange_reply_problem(exchange, HTTP_BAD_REQUEST,
                           "within: expected a time of at most 5 s, such as 2s; dlspool plan on "
                           "the command line looks for longer");
    return false;
}

/* A revision of the spool's templates; NULL after a reply. */
static struct repository *open_revision(struct exchange *exchange, const char *name,
                                        const char *usual)
{
    struct text word = exchange_query(exchange, name);
    struct error error;
    struct repository *repository = NULL;
    if (word.length || usual)
        repository = templates_open(
            exchange->spool->path, NULL,
            word.length ? arena_text(exchange->arena, word.data, word.length).data : usual, false,
            &error);
    else
        error_set(&error, "expected a commit of templates.git, such as HEAD~1");
    if (repository)
        return repository;
    error_prefix(&error, "%s", name);
    exchange_reply_problem(exchange, HTTP_BAD_REQUEST, error.text);
    return NULL;
}

/* Render the jobs with both commits, and reply. */
static void compare(struct exchange *exchange, struct preview_request *request)
{
    struct settings settings;
    struct preview preview = {.arena = NULL};
    struct error error;
    int result = settings_read(&settings, exchange->spool, &error);
    if (!result) {
        request->executor = settings.executor;
        result = preview_make(request, &preview, &error);
        settings_free(&settings);
    }
    if (result)
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, error.text);
    else
        exchange_reply_json(exchange, HTTP_OK,
                            preview_tree_make(&preview, repository_commit(request->before),
                                              repository_commit(request->after), request->days));
    preview_free(&preview);
}

static void show_plan(struct exchange *exchange)
{
    struct preview_request request = {.spool = exchange->spool, .now = clock_now()};
    int64_t days = read_number(exchange, "days", USUAL_DAYS, MOST_DAYS);
    int64_t most = days < 0 ? -1 : read_number(exchange, "limit", MOST_JOBS, MOST_JOBS);
    if (most < 0 || !read_within(exchange, &request.within))
        return;
    request.days = (int)days;
    request.most = (size_t)most;
    request.after = open_revision(exchange, "revision", NULL);
    request.before = request.after ? open_revision(exchange, "against", "HEAD") : NULL;
    if (request.before)
        compare(exchange, &request);
    repository_close(request.after);
    repository_close(request.before);
}

const struct route plan_api_routes[] = {
    {"GET", "/dlspool/v1/plan?revision against days limit within", show_plan}, {.pattern = NULL}};
