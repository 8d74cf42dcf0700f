/* web/scope.c - refuses what the token of a connection is not for */
#include "web/scope.h"

#include "base/array.h"
#include "web/html.h"

/* What submits a job; all else that is no GET asks for something. */
static const char *const submits[] = {"/dlspool/v1/jobs", "/new", "/rest-server/api/v2/jobs",
                                      "/dlws/PostJob", "/dlws/SubmitJob"};
/* What changes nothing: OpenPAI's clients ask for a token so. */
static const char *const reads[] = {"/rest-server/api/v1/token",
                                    "/rest-server/api/v2/authn/basic/login",
                                    "/rest-server/api/v2/tokens/application"};

static bool is_listed(const char *const *paths, size_t count, struct text path)
{
    for (size_t i = 0; i < count; i++)
        if (text_is(path, paths[i]))
            return true;
    return false;
}

static enum access_scope needed_scope(const struct exchange *exchange)
{
    if (text_is(exchange->method, "GET") || text_is(exchange->method, "HEAD"))
        return ACCESS_READ;
    if (!text_is(exchange->method, "POST"))
        return ACCESS_ALL;
    if (is_listed(reads, ARRAY_COUNT(reads), exchange->path))
        return ACCESS_READ;
    bool of_user = text_starts(exchange->path, "/rest-server/api/v1/user/") &&
                   text_ends(exchange->path, "/jobs");
    if (of_user || is_listed(submits, ARRAY_COUNT(submits), exchange->path))
        return ACCESS_SUBMIT;
    return ACCESS_ALL;
}

bool scope_allows(struct exchange *exchange)
{
    enum access_scope needed = needed_scope(exchange);
    if (exchange->scope >= needed)
        return true;
    struct error error;
    error_set(&error, "this token is for %s; that takes one of scope %s",
              exchange->scope == ACCESS_READ ? "reading" : "reading and submitting",
              access_token_scope_name(needed));
    if (text_contains(exchange_header(exchange, "Accept"), TEXT("text/html")))
        html_reply_sentence(exchange, HTTP_FORBIDDEN, error.text);
    else
        exchange_reply_problem(exchange, HTTP_FORBIDDEN, error.text);
    return false;
}
