/* web/server.c - speaks HTTP on connections that are open already, and has each request answered */
#include "web/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/system.h"
#include "web/framing.h"
#include "web/microhttpd.h"

enum { STREAM_BLOCK = 8192 };           /* bytes of a stream that are sent together */
enum { MOST_FIELDS = 100 };             /* of a query, and headers */
enum { CONNECTION_MEMORY = 48 * 1024 }; /* bytes of libmicrohttpd's for each: a head must fit in */

/* A request under way. */
struct conversation {
    struct server *server;
    struct MHD_Connection *connection;
    struct exchange exchange;
    struct buffer body;
    struct buffer out; /* of a stream: what was made and not sent yet */
    bool answered, too_large, too_many, once, streamed;
    struct conversation *next; /* of those that wait */
};

struct server {
    const struct microhttpd *library;
    const struct spool *spool;
    struct server_limits limits;
    server_answer *answer;
    void *context;
    struct MHD_Daemon *daemon;
    struct conversation *waiting;
    struct pass_terms *terms; /* of each connection, by its descriptor */
    size_t terms_count;
    size_t connections;
    int descriptor;
};

/* ---- the request ---- */

struct fields {
    struct arena *arena;
    struct web_field *items;
    size_t count, capacity;
    bool too_many;
};

static enum MHD_Result add_field(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct fields *fields = context;
    (void)kind;
    fields->too_many = fields->count >= MOST_FIELDS;
    if (fields->too_many)
        return MHD_NO;
    fields->items = arena_grow(fields->arena, fields->items, fields->count, &fields->capacity,
                               sizeof(*fields->items));
    fields->items[fields->count++] =
        (struct web_field){text_of(arena_string(fields->arena, name)),
                           text_of(value ? arena_string(fields->arena, value) : "")};
    return MHD_YES;
}

static struct web_field *read_fields(struct conversation *conversation, enum MHD_ValueKind kind,
                                     size_t *count)
{
    struct fields fields = {.arena = conversation->exchange.arena};
    conversation->server->library->MHD_get_connection_values(conversation->connection, kind,
                                                             add_field, &fields);
    *count = fields.count;
    conversation->too_many = conversation->too_many || fields.too_many;
    return fields.items;
}

static struct pass_terms terms_of(const struct server *server, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        server->library->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info && info->connect_fd >= 0 && (size_t)info->connect_fd < server->terms_count)
        return server->terms[info->connect_fd];
    return (struct pass_terms){.scope = ACCESS_READ, .once = true};
}

static struct conversation *begin(struct server *server, struct MHD_Connection *connection,
                                  const char *path, const char *method)
{
    struct conversation *conversation = memory_allocate(sizeof(*conversation));
    struct arena *arena = arena_new();
    const struct pass_terms terms = terms_of(server, connection);
    *conversation = (struct conversation){
        .server = server,
        .connection = connection,
        .once = terms.once,
        .exchange = {.arena = arena,
                     .spool = server->spool,
                     .scope = terms.scope,
                     .method = text_of(arena_string(arena, method)),
                     .path = text_of(arena_string(arena, path)),
                     .file = -1},
    };
    struct exchange *exchange = &conversation->exchange;
    exchange->query = read_fields(conversation, MHD_GET_ARGUMENT_KIND, &exchange->query_count);
    exchange->headers = read_fields(conversation, MHD_HEADER_KIND, &exchange->header_count);
    return conversation;
}

/* ---- the reply ---- */

/* What every reply says: a browser is to believe the type, to run nothing but what comes from here as a file of its
 * own, and to keep nothing. */
static const char *const usual_headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Content-Security-Policy",
     "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
     "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"},
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-cache, private"},
};

static void add_headers(const struct microhttpd *library, struct MHD_Response *response,
                        const struct exchange *exchange)
{
    if (exchange->content_type)
        library->MHD_add_response_header(response, "Content-Type", exchange->content_type);
    for (size_t i = 0; i < ARRAY_COUNT(usual_headers); i++)
        library->MHD_add_response_header(response, usual_headers[i][0], usual_headers[i][1]);
    for (size_t i = 0; i < exchange->reply_header_count; i++)
        library->MHD_add_response_header(response, exchange->reply_headers[i].name.data,
                                         exchange->reply_headers[i].value.data);
}

static void wait_for_reply(struct conversation *conversation)
{
    conversation->next = conversation->server->waiting;
    conversation->server->waiting = conversation;
    conversation->server->library->MHD_suspend_connection(conversation->connection);
}

/* Called for more of a stream.  When there is none now, the connection is suspended until there may be. */
static ssize_t read_stream(void *context, uint64_t position, char *bytes, size_t most)
{
    struct conversation *conversation = context;
    struct exchange *exchange = &conversation->exchange;
    (void)position;
    if (!conversation->out.length && !conversation->streamed &&
        exchange->again_at <= clock_elapsed())
        conversation->streamed = !exchange->stream(exchange, &conversation->out);
    size_t count = conversation->out.length < most ? conversation->out.length : most;
    if (count) {
        memcpy(bytes, conversation->out.data, count);
        memmove(conversation->out.data, conversation->out.data + count,
                conversation->out.length - count);
        conversation->out.length -= count;
        return (ssize_t)count;
    }
    if (conversation->streamed)
        return MHD_CONTENT_READER_END_OF_STREAM;
    wait_for_reply(conversation);
    return 0;
}

/* Hand the reply to libmicrohttpd: a stream, a file, or what is in memory. */
static enum MHD_Result send_reply(struct conversation *conversation)
{
    const struct microhttpd *library = conversation->server->library;
    struct exchange *exchange = &conversation->exchange;
    struct MHD_Response *response;
    if (exchange->stream) {
        response = library->MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
                                                              read_stream, conversation, NULL);
    } else if (exchange->file >= 0) {
        off_t start = lseek(exchange->file, 0, SEEK_CUR);
        response = library->MHD_create_response_from_fd_at_offset64(
            (uint64_t)exchange->length, exchange->file, (uint64_t)start);
        exchange->file = -1;
    } else {
        char *bytes = (char *)(uintptr_t)exchange->content.data;
        response = library->MHD_create_response_from_buffer(
            exchange->content.length, exchange->content.length ? bytes : (char[]){""},
            MHD_RESPMEM_MUST_COPY);
    }
    if (!response)
        return MHD_NO;
    add_headers(library, response, exchange);
    if (conversation->once)
        library->MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result = library->MHD_queue_response(conversation->connection,
                                                         (unsigned int)exchange->status, response);
    library->MHD_destroy_response(response);
    return result;
}

static void ask(struct conversation *conversation, web_handler *again)
{
    struct exchange *exchange = &conversation->exchange;
    exchange->again = NULL;
    if (again)
        again(exchange);
    else
        conversation->server->answer(conversation->server->context, exchange);
    conversation->answered = exchange->status != 0;
    if (!conversation->answered && !exchange->again) {
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, "there was no reply");
        conversation->answered = true;
    }
}

/* ---- what libmicrohttpd calls ---- */

static void take_body(struct conversation *conversation, const char *bytes, size_t *length)
{
    if (conversation->body.length + *length > conversation->server->limits.body)
        conversation->too_large = true;
    else
        buffer_add(&conversation->body, bytes, *length);
    *length = 0;
}

/* Reply to a head that is not taken, and close the connection: nobody can tell what comes after it. */
static enum MHD_Result refuse_head(struct conversation *conversation, int status,
                                   const char *sentence)
{
    exchange_reply_problem(&conversation->exchange, status, sentence);
    conversation->once = true;
    conversation->answered = true;
    return send_reply(conversation);
}

static enum MHD_Result look_at_head(struct conversation *conversation)
{
    const char *fault = framing_fault(&conversation->exchange);
    if (conversation->too_many)
        return refuse_head(conversation, HTTP_TOO_MANY_FIELDS,
                           "found more than 100 headers or fields of the query");
    return fault ? refuse_head(conversation, HTTP_BAD_REQUEST, fault) : MHD_YES;
}

/* Called once with the head of a request, for each part of its body, and at its end; and again when a connection was
 * resumed. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *bytes,
                              size_t *length, void **kept)
{
    struct server *server = context;
    struct conversation *conversation = *kept;
    (void)version;
    if (!conversation) {
        *kept = conversation = begin(server, connection, path, method);
        return look_at_head(conversation);
    }
    if (*length) {
        take_body(conversation, bytes, length);
        return MHD_YES;
    }
    struct exchange *exchange = &conversation->exchange;
    if (!conversation->answered && conversation->too_large) {
        exchange_reply_problem(exchange, HTTP_TOO_LARGE, "the body is too long");
    } else if (!conversation->answered) {
        exchange->body = buffer_text(&conversation->body);
        ask(conversation, NULL);
    }
    if (exchange->status)
        return send_reply(conversation);
    wait_for_reply(conversation);
    return MHD_YES;
}

static void forget(struct server *server, struct conversation *conversation)
{
    struct conversation **link = &server->waiting;
    while (*link && *link != conversation)
        link = &(*link)->next;
    if (*link)
        *link = conversation->next;
}

static void end(void *context, struct MHD_Connection *connection, void **kept,
                enum MHD_RequestTerminationCode why)
{
    struct conversation *conversation = *kept;
    (void)connection;
    (void)why;
    if (!conversation)
        return;
    forget(context, conversation);
    if (conversation->exchange.file >= 0)
        sys.close(conversation->exchange.file);
    if (conversation->exchange.stream_end)
        conversation->exchange.stream_end(&conversation->exchange);
    buffer_free(&conversation->body);
    buffer_free(&conversation->out);
    arena_free(conversation->exchange.arena);
    free(conversation);
    *kept = NULL;
}

static void count_connection(void *context, struct MHD_Connection *connection, void **kept,
                             enum MHD_ConnectionNotificationCode what)
{
    struct server *server = context;
    (void)connection;
    (void)kept;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        server->connections++;
    else
        server->connections--;
}

static void say(void *context, const char *format, va_list arguments)
{
    struct buffer sentence = {0};
    (void)context;
    buffer_vprintf(&sentence, format, arguments);
    struct text text = text_trim(buffer_text(&sentence));
    log_detail("libmicrohttpd: %.*s", (int)text.length, text.data);
    buffer_free(&sentence);
}

/* ---- the server ---- */

struct server *server_start(const struct spool *spool, const struct server_limits *limits,
                            server_answer *answer, void *context, struct error *error)
{
    const struct microhttpd *library = microhttpd_open(error);
    if (!library)
        return NULL;
    struct server *server = memory_allocate(sizeof(*server));
    *server = (struct server){.library = library,
                              .spool = spool,
                              .limits = *limits,
                              .answer = answer,
                              .context = context};
    server->daemon = library->MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0,
        NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, say, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, end, server, MHD_OPTION_NOTIFY_CONNECTION, count_connection,
        server, MHD_OPTION_CONNECTION_LIMIT, limits->connections, MHD_OPTION_CONNECTION_TIMEOUT,
        limits->idle, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? library->MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)
                       : NULL;
    if (!info) {
        error_set(error, "libmicrohttpd could not be started");
        server_stop(server);
        return NULL;
    }
    server->descriptor = info->epoll_fd;
    return server;
}

void server_stop(struct server *server)
{
    if (!server)
        return;
    while (server->waiting) {
        struct conversation *conversation = server->waiting;
        server->waiting = conversation->next;
        server->library->MHD_resume_connection(conversation->connection);
    }
    if (server->daemon)
        server->library->MHD_stop_daemon(server->daemon);
    free(server->terms);
    free(server);
}

bool server_add(struct server *server, int connection, const struct pass_terms *terms)
{
    static const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
    if ((size_t)connection >= server->terms_count) {
        server->terms_count = (size_t)connection + 1;
        server->terms = memory_resize(server->terms, server->terms_count * sizeof(*server->terms));
    }
    server->terms[connection] = *terms;
    return server->library->MHD_add_connection(server->daemon, connection,
                                               (const struct sockaddr *)&nobody,
                                               sizeof(sa_family_t)) == MHD_YES;
}

size_t server_connections(const struct server *server)
{
    return server->connections;
}

int server_descriptor(const struct server *server)
{
    return server->descriptor;
}

int server_timeout(struct server *server)
{
    unsigned long long timeout;
    int64_t least = server->library->MHD_get_timeout(server->daemon, &timeout) == MHD_YES
                        ? (int64_t)(timeout < 60000 ? timeout : 60000)
                        : -1;
    for (const struct conversation *waiting = server->waiting; waiting; waiting = waiting->next) {
        int64_t left = waiting->exchange.again_at - clock_elapsed();
        left = left > 0 ? left : 0;
        least = least < 0 || left < least ? left : least;
    }
    return (int)least;
}

/* Ask those that wait whether there is a reply now. */
static void ask_again(struct server *server)
{
    struct conversation **link = &server->waiting;
    while (*link) {
        struct conversation *conversation = *link;
        bool due = conversation->exchange.again_at <= clock_elapsed();
        if (due && !conversation->answered)
            ask(conversation, conversation->exchange.again);
        if (!conversation->answered || (conversation->exchange.stream && !due)) {
            link = &conversation->next;
            continue;
        }
        *link = conversation->next;
        server->library->MHD_resume_connection(conversation->connection);
    }
}

void server_run(struct server *server)
{
    ask_again(server);
    server->library->MHD_run(server->daemon);
}
