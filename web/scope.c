/* web/scope.c - refuses what the token of a connection is not for */
#include "web/scope.h"

#include "base/array.h"

/* What submits a job; all else that is no GET asks for something. */
static const char *const submits[] = {"/dlspool/v1/jobs", "/new", "/rest-server/api/v2/jobs"};

static enum access_scope needed_scope(const struct exchange *exchange)
{
    if (text_is(exchange->method, "GET") || text_is(exchange->method, "HEAD"))
        return ACCESS_READ;
    for (size_t i = 0; i < ARRAY_COUNT(submits); i++)
        if (text_is(exchange->method, "POST") && text_is(exchange->path, submits[i]))
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
    exchange_reply_problem(exchange, HTTP_FORBIDDEN, error.text);
    return false;
}
