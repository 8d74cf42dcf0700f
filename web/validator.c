/* web/validator.c - ETag and If-None-Match */
#include "web/validator.h"

#include "base/sha256.h"

enum { TAG_DIGITS = 32 };

/* Is the validator among those of the header, which may be weak, or is that "*"? */
static bool is_listed(struct text list, struct text tag)
{
    struct text item;
    if (text_is(text_trim(list), "*"))
        return true;
    while (list.length && text_next(&list, ',', &item)) {
        item = text_trim(item);
        if (text_starts(item, "W/"))
            item = (struct text){item.data + 2, item.length - 2};
        if (text_equal(item, tag))
            return true;
    }
    return false;
}

void validator_apply(struct exchange *exchange)
{
    char hex[SHA256_HEX_SIZE];
    if (exchange->status != HTTP_OK || exchange->file >= 0 || exchange->stream ||
        !(text_is(exchange->method, "GET") || text_is(exchange->method, "HEAD")))
        return;
    sha256_hex(exchange->content, hex);
    struct text tag = arena_printf(exchange->arena, "\"%.*s\"", TAG_DIGITS, hex);
    exchange_add_header(exchange, "ETag", tag);
    if (is_listed(exchange_header(exchange, "If-None-Match"), tag)) {
        exchange->status = HTTP_NOT_MODIFIED;
        exchange->content = TEXT("");
    }
}
