/* tests/fuzz/web_head_fuzz.c - web/head.h: any bytes as the head of a request at the door
 *
 * However the bytes come, in one piece or in parts, the answer is the same: a head that is whole is no longer than
 * allowed and ends in an empty line; it stays what it is with more bytes behind it, and was a part before them.  What
 * it says stands in its bytes, on one line, without a control character, and a token can be one.
 */
#include "web/head.h"
#include "web/openpai_door.h"

#include "tests/fuzz/fuzz.h"

/* Bytes of the head, and none that would end a line. */
static void check_view(struct text bytes, struct text view)
{
    if (!view.length)
        return;
    CHECK(view.data >= bytes.data && view.data + view.length <= bytes.data + bytes.length);
    for (size_t i = 0; i < view.length; i++)
        CHECK((unsigned char)view.data[i] >= ' ' || view.data[i] == '\t');
}

/* A token given as a password is in the body. */
static void check_password(struct text body, struct text token)
{
    check_view(body, token);
    CHECK(!token.length || (head_is_token(token) && text_starts(token, "dlspool_")));
}

static void check_whole(struct text bytes, const struct head *head)
{
    const struct text views[] = {head->method,        head->target,      head->host,
                                 head->origin,        head->site,        head->accept,
                                 head->cookie,        head->remote_user, head->scheme,
                                 head->authorization, head_token(head)};
    struct text own = {bytes.data, head->length};
    CHECK(head->length >= 4 && head->length <= HEAD_LONGEST && head->length <= bytes.length);
    CHECK(memcmp(bytes.data + head->length - 4, "\r\n\r\n", 4) == 0);
    CHECK(head->method.length && head->target.length);
    CHECK(head->body >= 0 && head->body <= INT32_MAX);
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
        check_view(own, views[i]);
    CHECK(!head_token(head).length || head_is_token(head_token(head)));
    const struct text body = {bytes.data + head->length, bytes.length - head->length};
    check_password(body, openpai_door_token(body));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text all = fuzz_text(bytes, length);
    struct head head, of_part;
    enum head_result result = head_read(all, &head);
    size_t part = result == HEAD_WHOLE ? head.length : length;
    if (result == HEAD_WHOLE) {
        check_whole(all, &head);
        CHECK(head_read((struct text){all.data, head.length}, &of_part) == HEAD_WHOLE);
        CHECK(of_part.length == head.length && of_part.body == head.body);
    }
    /* A few of the shorter ones, from the end: what began a head well stays a part. */
    for (size_t i = 1; i <= 8 && i <= part; i++) {
        enum head_result before = head_read((struct text){all.data, part - i}, &of_part);
        CHECK(result == HEAD_BAD || before == HEAD_PART);
    }
    return 0;
}
