/* web/routes.c - which function answers a request */
#include "web/routes.h"

#include <string.h>

#include "base/array.h"
#include "web/parameters.h"

/* The pattern of the path, before the parameters. */
static struct text path_of(const struct route *route)
{
    return (struct text){route->pattern, strcspn(route->pattern, "?")};
}

static bool has_path(const struct route *route, struct exchange *exchange)
{
    struct text path = exchange->path, pattern = path_of(route), part, expected;
    size_t count = 0;
    if (!path.length || path.data[0] != '/')
        return false;
    for (;;) {
        bool more = text_next(&pattern, '/', &expected), have = text_next(&path, '/', &part);
        if (more && text_is(expected, "**"))
            return have;
        if (!more || !have)
            return more == have;
        if (text_is(expected, "{}")) {
            if (!part.length || count == ARRAY_COUNT(exchange->parts))
                return false;
            exchange->parts[count++] = part;
        } else if (!text_equal(part, expected)) {
            return false;
        }
    }
}

static bool has_method(const struct route *route, const struct exchange *exchange)
{
    return !route->method || text_is(exchange->method, route->method) ||
           (text_is(exchange->method, "HEAD") && strcmp(route->method, "GET") == 0);
}

/* The route of a table that fits; NULL: none, and the methods of those with its path were appended. */
static const struct route *find_route(const struct route *routes, struct exchange *exchange,
                                      struct buffer *allowed)
{
    for (const struct route *route = routes; route->pattern; route++) {
        if (!has_path(route, exchange))
            continue;
        if (has_method(route, exchange))
            return route;
        buffer_printf(allowed, "%s%s", allowed->length ? ", " : "", route->method);
    }
    return NULL;
}

void routes_answer(const struct route *const *tables, size_t count, struct exchange *exchange)
{
    struct buffer allowed = {0};
    const struct route *route = NULL;
    for (size_t i = 0; i < count && !route; i++)
        route = find_route(tables[i], exchange, &allowed);
    if (route) {
        const char *parameters = strchr(route->pattern, '?');
        if (!parameters || parameters_fit(exchange, parameters + 1))
            route->handler(exchange);
    } else if (!allowed.length) {
        exchange_reply_problem(exchange, HTTP_NOT_FOUND, "there is nothing at this path");
    } else {
        struct text methods = arena_text(exchange->arena, allowed.data, allowed.length);
        exchange_add_header(exchange, "Allow", methods);
        exchange_reply_problem(
            exchange, HTTP_METHOD_NOT_ALLOWED,
            arena_printf(exchange->arena, "this path takes %s", methods.data).data);
    }
    buffer_free(&allowed);
}
