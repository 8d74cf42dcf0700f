/* web/exchange.c - one request of HTTP and the reply to it */
#include "web/exchange.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/json.h"
#include "base/system.h"
#include "base/utf8.h"

static const char json_type[] = "application/json", problem_type[] = "application/problem+json";

const char *exchange_status_name(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {HTTP_OK, "OK"},
        {HTTP_CREATED, "Created"},
        {HTTP_ACCEPTED, "Accepted"},
        {HTTP_SEE_OTHER, "See Other"},
        {HTTP_NOT_MODIFIED, "Not Modified"},
        {HTTP_BAD_REQUEST, "Bad Request"},
        {HTTP_UNAUTHORIZED, "Unauthorized"},
        {HTTP_FORBIDDEN, "Forbidden"},
        {HTTP_NOT_FOUND, "Not Found"},
        {HTTP_METHOD_NOT_ALLOWED, "Method Not Allowed"},
        {HTTP_CONFLICT, "Conflict"},
        {HTTP_TOO_LARGE, "Content Too Large"},
        {HTTP_WRONG_TYPE, "Unsupported Media Type"},
        {HTTP_MISDIRECTED, "Misdirected Request"},
        {HTTP_UNPROCESSABLE, "Unprocessable Content"},
        {HTTP_TOO_MANY_FIELDS, "Request Header Fields Too Large"},
        {HTTP_INTERNAL_ERROR, "Internal Server Error"},
        {HTTP_UNAVAILABLE, "Service Unavailable"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (names[i].status == status)
            return names[i].name;
    return "Unknown";
}

struct text exchange_query(const struct exchange *exchange, const char *name)
{
    for (size_t i = 0; i < exchange->query_count; i++)
        if (text_is(exchange->query[i].name, name))
            return exchange->query[i].value;
    return TEXT("");
}

struct text exchange_header(const struct exchange *exchange, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < exchange->header_count; i++) {
        const struct web_field *header = &exchange->headers[i];
        if (header->name.length == length && strncasecmp(header->name.data, name, length) == 0)
            return header->value;
    }
    return TEXT("");
}

void exchange_add_header(struct exchange *exchange, const char *name, struct text value)
{
    if (exchange->reply_header_count < ARRAY_COUNT(exchange->reply_headers))
        exchange->reply_headers[exchange->reply_header_count++] =
            (struct web_field){text_of(name), value};
}

void exchange_reply_text(struct exchange *exchange, int status, const char *content_type,
                         struct text content)
{
    exchange->status = status;
    exchange->content_type = content_type;
    exchange->content = content;
}

/* The same with U+FFFD in the place of each byte that is not UTF-8, as JSON has to be: names of files and what tasks
 * print are any bytes. */
static void mend_utf8(struct buffer *json)
{
    struct buffer mended = {0};
    struct text rest = buffer_text(json);
    if (utf8_valid(rest))
        return;
    while (rest.length) {
        size_t length = utf8_sequence(rest.data, rest.length);
        buffer_add(&mended, length ? rest.data : "\xef\xbf\xbd", length ? length : 3);
        length = length ? length : 1;
        rest = (struct text){rest.data + length, rest.length - length};
    }
    buffer_free(json);
    *json = mended;
}

void exchange_add_json(struct buffer *out, const struct value *tree)
{
    struct buffer json = {0};
    json_write(&json, tree, false, NULL);
    mend_utf8(&json);
    buffer_add_text(out, buffer_text(&json));
    buffer_free(&json);
}

void exchange_reply_stream(struct exchange *exchange, const char *content_type, web_stream *stream,
                           web_handler *end)
{
    exchange->status = HTTP_OK;
    exchange->content_type = content_type;
    exchange->stream = stream;
    exchange->stream_end = end;
}

void exchange_reply_json(struct exchange *exchange, int status, const struct value *tree)
{
    struct buffer out = {0};
    exchange_add_json(&out, tree);
    buffer_add_byte(&out, '\n');
    exchange_reply_text(exchange, status, json_type, arena_take(exchange->arena, &out));
}

void exchange_reply_file(struct exchange *exchange, const char *content_type, int file)
{
    struct stat status;
    if (sys.fstat(file, &status) || !S_ISREG(status.st_mode)) {
        sys.close(file);
        exchange_reply_problem(exchange, HTTP_NOT_FOUND, "this is not a file");
        return;
    }
    exchange->status = HTTP_OK;
    exchange->content_type = content_type;
    exchange->file = file;
    exchange->length = status.st_size;
}

void exchange_add_encoded(struct buffer *out, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || (byte && strchr("-_.", byte));
        if (plain)
            buffer_add_byte(out, byte);
        else
            buffer_printf(out, "%%%02X", (unsigned char)byte);
    }
}

static struct value *problem(struct exchange *exchange, int status, const char *sentence)
{
    struct arena *arena = exchange->arena;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "type", value_string(arena, "about:blank"));
    value_put(arena, tree, "title", value_string(arena, exchange_status_name(status)));
    value_put(arena, tree, "status", value_number(arena, status));
    value_put(arena, tree, "detail", value_string(arena, sentence));
    return tree;
}

void exchange_reply_problem(struct exchange *exchange, int status, const char *sentence)
{
    exchange_reply_json(exchange, status, problem(exchange, status, sentence));
    exchange->content_type = problem_type;
}

/* Is that the name of a field: image, tasks.worker.gpus, args[2]? */
static bool is_field(struct text word)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]";
    for (size_t i = 0; i < word.length; i++)
        if (!word.data[i] || !strchr(letters, word.data[i]))
            return false;
    return word.length != 0;
}

/* Cut what stands before the first ": " off the sentence; false when there is none. */
static bool take_word(struct text *sentence, struct text *word)
{
    const char *end = sentence->length ? strstr(sentence->data, ": ") : NULL;
    if (!end)
        return false;
    *word = (struct text){sentence->data, (size_t)(end - sentence->data)};
    *sentence = text_of(end + 2);
    return true;
}

/* The line in "FILE:LINE" or "FILE:LINE:COLUMN"; -1: there is none. */
static int64_t line_in(struct text place)
{
    struct text file, line;
    if (!text_next(&place, ':', &file) || !text_next(&place, ':', &line))
        return -1;
    return text_number(line, INT32_MAX);
}

/* A line of the sentence as an entry of `errors`: its line and field are cut off its front. */
static struct value *fault_of(struct arena *arena, const char *sentence)
{
    struct value *fault = value_object(arena);
    struct text rest = text_of(sentence), before = rest, word;
    if (take_word(&rest, &word) && line_in(word) >= 0) {
        value_put(arena, fault, "line", value_number(arena, (double)line_in(word)));
        before = rest;
    } else {
        rest = before;
    }
    if (take_word(&rest, &word) && is_field(word))
        value_put(arena, fault, "field", value_text(arena, word));
    else
        rest = before;
    value_put(arena, fault, "text", value_text(arena, rest));
    return fault;
}

void exchange_reply_fault(struct exchange *exchange, int status, const char *sentence)
{
    struct arena *arena = exchange->arena;
    struct value *tree = problem(exchange, status, sentence), *faults = value_list(arena);
    struct text rest = text_of(sentence), line;
    while (rest.length && text_next(&rest, '\n', &line))
        value_append(arena, faults,
                     fault_of(arena, arena_text(arena, line.data, line.length).data));
    value_put(arena, tree, "errors", faults);
    exchange_reply_json(exchange, status, tree);
    exchange->content_type = problem_type;
}
