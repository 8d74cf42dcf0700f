/* web/framing.c - refuses heads of requests that different programs would read differently */
#include "web/framing.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"

static size_t count_headers(const struct exchange *exchange, const char *name)
{
    size_t count = 0, length = strlen(name);
    for (size_t i = 0; i < exchange->header_count; i++) {
        struct text own = exchange->headers[i].name;
        count += own.length == length && strncasecmp(own.data, name, length) == 0;
    }
    return count;
}

/* A name that ends in a blank, or has one within, is another header for some, and none for others. */
static bool has_odd_name(const struct exchange *exchange)
{
    for (size_t i = 0; i < exchange->header_count; i++) {
        struct text name = exchange->headers[i].name;
        for (size_t k = 0; k < name.length; k++)
            if (name.data[k] <= ' ' || name.data[k] == 0x7f)
                return true;
        if (!name.length)
            return true;
    }
    return false;
}

const char *framing_fault(const struct exchange *exchange)
{
    static const char *const single[][2] = {
        {"Host", "Host: found twice, expected once"},
        {"Content-Length", "Content-Length: found twice, expected once"},
        {"Transfer-Encoding", "Transfer-Encoding: found twice, expected once"},
        {"Content-Type", "Content-Type: found twice, expected once"},
        {"Authorization", "Authorization: found twice, expected once"},
        {"Origin", "Origin: found twice, expected once"},
        {"Sec-Fetch-Site", "Sec-Fetch-Site: found twice, expected once"},
        {"Idempotency-Key", "Idempotency-Key: found twice, expected once"}};
    for (size_t i = 0; i < ARRAY_COUNT(single); i++)
        if (count_headers(exchange, single[i][0]) > 1)
            return single[i][1];
    struct text coding = exchange_header(exchange, "Transfer-Encoding");
    if (count_headers(exchange, "Transfer-Encoding")) {
        if (coding.length != strlen("chunked") ||
            strncasecmp(coding.data, "chunked", coding.length) != 0)
            return "Transfer-Encoding: found another than chunked";
        if (count_headers(exchange, "Content-Length"))
            return "Content-Length: found beside Transfer-Encoding, expected one of them";
    }
    return has_odd_name(exchange) ? "found a header whose name has a blank or is empty" : NULL;
}
