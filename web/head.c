/* web/head.c - the head of a request of HTTP, read strictly */
#include "web/head.h"

#include <string.h>
#include <strings.h>

enum { LONGEST_TOKEN = 72 };

/* A name of a header, or a method (RFC 9110, token). */
static bool is_word(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
              (byte >= '0' && byte <= '9') || (byte && strchr("!#$%&'*+-.^_`|~", byte))))
            return false;
    }
    return text.length != 0;
}

static bool is_visible(struct text text, bool spaces)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == 0x7f || byte < ' ' + !spaces)
            if (!(spaces && byte == '\t'))
                return false;
    }
    return true;
}

/* Cut the next line, without its CR LF, off the front.  HEAD_PART when it has no end yet. */
static enum head_result take_line(struct text *rest, struct text *line)
{
    const char *end = rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
    if (!end)
        return HEAD_PART;
    size_t length = (size_t)(end - rest->data);
    if (!length || rest->data[length - 1] != '\r')
        return HEAD_BAD;
    *line = (struct text){rest->data, length - 1};
    *rest = (struct text){end + 1, rest->length - length - 1};
    return HEAD_WHOLE;
}

static bool read_request_line(struct text line, struct head *head)
{
    struct text version;
    return text_next(&line, ' ', &head->method) && text_next(&line, ' ', &head->target) &&
           text_next(&line, ' ', &version) && !line.length && is_word(head->method) &&
           head->target.length && is_visible(head->target, false) &&
           (text_is(version, "HTTP/1.1") || text_is(version, "HTTP/1.0"));
}

static bool is_name(struct text name, const char *wanted)
{
    return name.length == strlen(wanted) && strncasecmp(name.data, wanted, name.length) == 0;
}

/* A header that says something of these may stand there once. */
static bool read_header(struct text line, struct head *head, bool seen[static 10])
{
    struct text length = TEXT(""), coding = length;
    const struct {
        const char *name;
        struct text *value;
    } known[] = {{"Host", &head->host},
                 {"Origin", &head->origin},
                 {"Sec-Fetch-Site", &head->site},
                 {"Accept", &head->accept},
                 {"Authorization", &head->authorization},
                 {"Cookie", &head->cookie},
                 {"X-Remote-User", &head->remote_user},
                 {"X-Forwarded-Proto", &head->scheme},
                 {"Content-Length", &length},
                 {"Transfer-Encoding", &coding}};
    struct text name;
    const char *colon = line.length ? memchr(line.data, ':', line.length) : NULL;
    if (!colon)
        return false;
    name = (struct text){line.data, (size_t)(colon - line.data)};
    struct text value = text_trim((struct text){colon + 1, line.length - name.length - 1});
    if (!is_word(name) || !is_visible(value, true))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        if (!is_name(name, known[i].name))
            continue;
        if (seen[i])
            return false;
        seen[i] = true;
        *known[i].value = value;
    }
    if (length.data == value.data)
        head->body = text_number(length, INT32_MAX);
    return head->body >= 0 && !(seen[8] && seen[9]);
}

enum head_result head_read(struct text bytes, struct head *head)
{
    struct text rest = bytes, line;
    bool seen[10] = {false};
    *head = (struct head){.body = 0};
    enum head_result result = take_line(&rest, &line);
    if (result == HEAD_WHOLE && !read_request_line(line, head))
        return HEAD_BAD;
    while (result == HEAD_WHOLE && (result = take_line(&rest, &line)) == HEAD_WHOLE) {
        if (!line.length) {
            head->length = bytes.length - rest.length;
            return head->length <= HEAD_LONGEST ? HEAD_WHOLE : HEAD_BAD;
        }
        if (!read_header(line, head, seen))
            return HEAD_BAD;
    }
    return result == HEAD_PART && bytes.length >= HEAD_LONGEST ? HEAD_BAD : result;
}

bool head_is_token(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
              (byte >= '0' && byte <= '9') || byte == '_' || byte == '-'))
            return false;
    }
    return text.length && text.length <= LONGEST_TOKEN;
}

struct text head_token(const struct head *head)
{
    struct text cookies = head->cookie, cookie, name, token = head->authorization;
    if (token.length > 7 && strncasecmp(token.data, "Bearer ", 7) == 0) {
        token = (struct text){token.data + 7, token.length - 7};
        return head_is_token(token) ? token : TEXT("");
    }
    while (cookies.length && text_next(&cookies, ';', &cookie)) {
        cookie = text_trim(cookie);
        if (text_next(&cookie, '=', &name) &&
            (text_is(name, "dlspool") || text_is(name, "__Host-dlspool")) && head_is_token(cookie))
            return cookie;
    }
    return TEXT("");
}
