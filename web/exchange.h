/* web/exchange.h - one request of HTTP and the reply to it, apart from how they travel
 *
 * web/server.h reads the one and sends the other; handlers (web/routes.h) turn one into the other.  The texts of the
 * request, and everything that a handler allocates, are in the arena, which lives until the reply was sent.
 */
#ifndef WEB_EXCHANGE_H
#define WEB_EXCHANGE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/value.h"
#include "spool/access_token.h"
#include "spool/spool.h"

/* The statuses that are used, RFC 9110. */
enum {
    HTTP_OK = 200,
    HTTP_CREATED = 201,
    HTTP_ACCEPTED = 202,
    HTTP_SEE_OTHER = 303,
    HTTP_NOT_MODIFIED = 304,
    HTTP_BAD_REQUEST = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_CONFLICT = 409,
    HTTP_TOO_LARGE = 413,
    HTTP_WRONG_TYPE = 415,
    HTTP_MISDIRECTED = 421,
    HTTP_UNPROCESSABLE = 422,
    HTTP_TOO_MANY_FIELDS = 431,
    HTTP_INTERNAL_ERROR = 500,
    HTTP_UNAVAILABLE = 503
};

/* A name and a value: of a header, or of the query. */
struct web_field {
    struct text name, value;
};

struct exchange;
typedef void web_handler(struct exchange *exchange);
/* Appends what there is of a reply without a known end, and sets again_at for more.  False when that was all. */
typedef bool web_stream(struct exchange *exchange, struct buffer *out);

struct exchange {
    struct arena *arena;
    const struct spool *spool;
    enum access_scope scope; /* what the connection may be used for */
    /* The request. */
    struct text method, path; /* the path begins with "/", is decoded, and has no query */
    struct web_field *query, *headers;
    size_t query_count, header_count;
    struct text body;
    struct text parts[4]; /* what the route's {} stood for */
    /* Without a reply yet: who is to be asked for one when that time of clock_elapsed() has come, and what they keep
     * for it, in the arena. */
    web_handler *again;
    int64_t again_at;
    void *kept;
    /* The reply. */
    int status; /* 0: none yet */
    const char *content_type;
    struct text content;
    int file; /* -1, or an open file whose bytes from the present position are the content; closed when sent */
    off_t length;            /* of it */
    web_stream *stream;      /* NULL, or what the content comes from ... */
    web_handler *stream_end; /* ... and what is called when nobody wants it any more */
    struct web_field reply_headers[8];
    size_t reply_header_count;
};

/* The value of a field of the query, or of a header by its name in any case; empty: there is none. */
struct text exchange_query(const struct exchange *exchange, const char *name);
struct text exchange_header(const struct exchange *exchange, const char *name);

/* Add a header to the reply; the texts are shared. */
void exchange_add_header(struct exchange *exchange, const char *name, struct text value);

/* Reply with a tree as JSON, whose texts may be any bytes, with a text, or with a file. */
void exchange_reply_json(struct exchange *exchange, int status, const struct value *tree);
void exchange_reply_text(struct exchange *exchange, int status, const char *content_type,
                         struct text content);
/* `file` is taken over, and closed on failure, which is replied as an error. */
void exchange_reply_file(struct exchange *exchange, const char *content_type, int file);

/* Reply with what a stream makes. */
void exchange_reply_stream(struct exchange *exchange, const char *content_type, web_stream *stream,
                           web_handler *end);
/* Append a tree as JSON that is UTF-8, whatever the bytes of its texts. */
void exchange_add_json(struct buffer *out, const struct value *tree);

/* Reply with a problem, RFC 9457: the status, its name, and the sentence. */
void exchange_reply_problem(struct exchange *exchange, int status, const char *sentence);
/* The same with `file`, `line` and `field` of the fault, where the sentence begins with them
 * ("FILE:LINE: FIELD: ..."), as the member `errors`: an entry for each line of the sentence. */
void exchange_reply_fault(struct exchange *exchange, int status, const char *sentence);

/* Append a text as a part of an address: every byte as %XX but letters, digits, "-", "_" and ".". */
void exchange_add_encoded(struct buffer *out, struct text text);

/* "Not Found" */
const char *exchange_status_name(int status);

#endif
