/* web/origin.c - refuses requests that a browser sends for a page of somebody else */
#include "web/origin.h"

#include <string.h>

#include "base/array.h"

/* The names under which a page is reached: through a port of one's own machine (ssh -L), or on a socket. */
static bool is_own_name(struct text host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]", "dlspool"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (!text_starts(host, names[i]))
            continue;
        struct text port = {host.data + length, host.length - length};
        if (!port.length)
            return true;
        if (port.data[0] == ':' &&
            text_number((struct text){port.data + 1, port.length - 1}, 65535) >= 0)
            return true;
    }
    return false;
}

/* The host in "http://HOST"; empty: it is none. */
static struct text host_of_origin(struct text origin)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < ARRAY_COUNT(schemes); i++) {
        size_t length = strlen(schemes[i]);
        if (text_starts(origin, schemes[i]))
            return (struct text){origin.data + length, origin.length - length};
    }
    return TEXT("");
}

static bool changes_something(const struct exchange *exchange)
{
    return !text_is(exchange->method, "GET") && !text_is(exchange->method, "HEAD");
}

/* Does it come from a page of our own, or from no page at all?  What a browser says of the site counts for more than
 * the origin, which some of them hide ("null") where a page asks that nobody be told of it. */
static bool is_from_own_page(const struct exchange *exchange)
{
    struct text site = exchange_header(exchange, "Sec-Fetch-Site");
    struct text origin = exchange_header(exchange, "Origin");
    if (site.length)
        return text_is(site, "same-origin") || text_is(site, "none");
    return !origin.length || text_equal(host_of_origin(origin), exchange_header(exchange, "Host"));
}

static bool is_listed(struct text host, const struct web_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (text_equal(host, names->items[i]))
            return true;
    return false;
}

bool origin_allows(struct exchange *exchange, const struct web_names *names)
{
    struct text host = exchange_header(exchange, "Host");
    if (!is_own_name(host) && !is_listed(host, names)) {
        struct error error;
        struct error_quote_buffer buffer;
        error_set(&error,
                  "Host: found \"%s\", expected localhost, 127.0.0.1, or a name of web.hosts",
                  error_quote(&buffer, host.data, host.length));
        exchange_reply_problem(exchange, HTTP_MISDIRECTED, error.text);
        return false;
    }
    if (changes_something(exchange) && !is_from_own_page(exchange)) {
        exchange_reply_problem(exchange, HTTP_FORBIDDEN,
                               "a page of another site asked for this; nothing was done");
        return false;
    }
    return true;
}
