/* executors/slurm/api.c - requests to slurmrestd, and what its answers mean */
#include "executors/slurm/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "executors/http/http.h"
#include "executors/slurm/token.h"
#include "executors/slurm/values.h"

enum {
    RESPONSE_LIMIT = 1 << 29, /* bytes: some 150,000 jobs */
    MESSAGE_MOST = 300,       /* bytes of a server's words in a sentence */
    NO_REASON = -1,           /* "Unspecified error": to a GET while slurmctld is down */
    NO_REPLY = 5005           /* "Zero Bytes were transmitted or received" */
};

static const struct yaml_limits answer_limits = {.bytes = 64 << 20, .nodes = 4000000, .depth = 64};

struct slurm_connection {
    const struct slurm_settings *settings;
    struct slurm_tokens *tokens;
    struct http_client *client;
    bool version_known;
    struct slurm_version version;
};

/* ---- opening ---- */

struct slurm_connection *slurm_api_connect(const struct slurm_settings *settings,
                                           struct error *error)
{
    static const char unix_prefix[] = "unix:";
    bool local = text_starts(settings->address, unix_prefix);
    static const char *const headers[] = {"Accept: application/json", NULL};
    const struct http_settings http = {
        .base = local ? "http://localhost" : settings->address.data,
        .unix_socket = local ? settings->address.data + strlen(unix_prefix) : NULL,
        .headers = headers,
        .ca_file = settings->ca_file.length ? settings->ca_file.data : NULL,
        .proxy = "",
        .timeout = settings->request_timeout,
        .connect_timeout = settings->connect_timeout,
        .response_limit = RESPONSE_LIMIT,
        .in_flight = settings->in_flight,
    };
    struct http_client *client = http_open(&http, error);
    if (!client)
        return NULL;
    struct slurm_connection *connection = memory_allocate(sizeof(*connection));
    *connection = (struct slurm_connection){
        .settings = settings, .tokens = slurm_tokens_new(settings), .client = client};
    return connection;
}

void slurm_api_disconnect(struct slurm_connection *connection)
{
    if (!connection)
        return;
    http_close(connection->client);
    slurm_tokens_free(connection->tokens);
    free(connection);
}

const char *slurm_api_server(const struct slurm_connection *connection)
{
    return connection->settings->address.data;
}

bool slurm_api_is_local(const struct slurm_connection *connection)
{
    return !connection->settings->token_file.length &&
           !connection->settings->token_directory.length;
}

bool slurm_api_differs_by_user(const struct slurm_connection *connection)
{
    return slurm_tokens_differ(connection->tokens);
}

/* ---- what an answer means ---- */

/* Errors that say nothing about the job: slurmrestd could not ask slurmctld, or lost the connection.
 * Numbers below 1000 are errno's, for example when slurmctld was killed; the others are those of
 * slurm/slurm_errno.h. */
enum outage { OUTAGE_NONE, OUTAGE_NOT_ASKED, OUTAGE_MAYBE_DONE };

static enum outage find_outage(int code)
{
    /* Connecting to slurmctld (1001, 1007, 1012, 1800), its records and disk (2007, 2019), one in stand-by
     * (2027, 2131), not ready (2103), submissions disabled (2105), munged (6000, 6002), slurmdbd (6005, 7000) */
    static const int not_asked[] = {EMFILE, ENFILE, ENETUNREACH, ECONNREFUSED, 1001, 1007,
                                    1012,   1800,   2007,        2019,         2027, 2103,
                                    2105,   2131,   6000,        6002,         6005, 7000};
    /* The connection broke after it was made. */
    static const int maybe_done[] = {NO_REASON,    EINTR,      EIO,      EPIPE,     ENETDOWN,
                                     ECONNABORTED, ECONNRESET, ENOTCONN, ETIMEDOUT, EHOSTUNREACH,
                                     ENETRESET,    EHOSTDOWN,  1002,     1003,      1004,
                                     1801,         1802,       1803,     5000,      5001,
                                     5002,         5003,       5004,     NO_REPLY};
    for (size_t i = 0; i < ARRAY_COUNT(not_asked); i++)
        if (not_asked[i] == code)
            return OUTAGE_NOT_ASKED;
    for (size_t i = 0; i < ARRAY_COUNT(maybe_done); i++)
        if (maybe_done[i] == code)
            return OUTAGE_MAYBE_DONE;
    return OUTAGE_NONE;
}

struct complaint {
    int code;
    struct text words, description;
};

/* The first error with a number, else the first; false when there is none. */
static bool find_complaint(const struct value *answer, struct complaint *complaint)
{
    const struct value *errors = value_get(answer, "errors");
    bool found = false;
    *complaint = (struct complaint){0};
    for (size_t i = 0; errors && errors->kind == VALUE_LIST && i < errors->list.count; i++) {
        const struct value *error = errors->list.items[i];
        double code =
            slurm_value_number(error, "error_number", slurm_value_number(error, "error_code", 0));
        bool numbered = code >= -1 && code <= 100000 && code != 0;
        if (found && !numbered)
            continue;
        found = true;
        complaint->words = value_get_text(error, "error");
        complaint->description = value_get_text(error, "description");
        complaint->code = numbered ? (int)code : 0;
        if (numbered)
            break;
    }
    return found;
}

/* Did slurmrestd itself not understand the request?  What it complains of first has numbers that slurmctld's silence
 * has, too. */
static bool is_unparsed(const struct value *answer)
{
    const struct value *errors = value_get(answer, "errors");
    for (size_t i = 0; errors && errors->kind == VALUE_LIST && i < errors->list.count; i++) {
        const struct value *error = errors->list.items[i];
        if (slurm_value_number(error, "error_number", slurm_value_number(error, "error_code", 0)) ==
            SLURM_CODE_PARSING)
            return true;
    }
    return false;
}

static void quote_words(struct buffer *out, struct text words)
{
    struct text rest =
        words.length > MESSAGE_MOST ? (struct text){words.data, MESSAGE_MOST} : words;
    while (rest.length) { /* error_quote() cuts what is longer than a piece */
        struct error_quote_buffer buffer;
        size_t length = rest.length < 72 ? rest.length : 72;
        while (length < rest.length && length > 60 &&
               ((unsigned char)rest.data[length] & 0xc0) == 0x80)
            length--;
        buffer_add_string(out, error_quote(&buffer, rest.data, length));
        rest = (struct text){rest.data + length, rest.length - length};
    }
    if (words.length > MESSAGE_MOST)
        buffer_add_string(out, "...");
}

/* Set the sentence for an error of Slurm, with what an administrator can check when slurmctld cannot be
 * reached. */
static void tell_complaint(const struct slurm_connection *connection, struct slurm_call *call,
                           const struct complaint *complaint)
{
    struct buffer words = {0};
    quote_words(&words, complaint->words.length ? complaint->words : complaint->description);
    if (complaint->words.length && complaint->description.length &&
        !text_equal(complaint->words, complaint->description)) {
        buffer_add_string(&words, ": ");
        quote_words(&words, complaint->description);
    }
    if (!words.length)
        buffer_add_string(&words, "an error without words");
    if (complaint->code)
        error_set(&call->error, "Slurm says: %s (%d)", words.data, complaint->code);
    else
        error_set(&call->error, "Slurm says: %s", words.data);
    buffer_free(&words);
    enum outage outage = find_outage(complaint->code);
    if (outage && (complaint->code == NO_REPLY || complaint->code == NO_REASON) &&
        !slurm_api_is_local(connection))
        error_prefix(&call->error,
                     "slurmctld cannot be reached through slurmrestd at %s, or does not "
                     "take the token of slurm.token_file or slurm.token_directory (one "
                     "that was made with another key, or for another user)",
                     slurm_api_server(connection));
    else if (complaint->code == NO_REASON)
        error_prefix(&call->error,
                     "slurmctld does not answer slurmrestd at %s: it is down, or just starting "
                     "(scontrol ping tells)",
                     slurm_api_server(connection));
    else if (outage)
        error_prefix(&call->error, "slurmctld cannot do it through slurmrestd at %s at the moment",
                     slurm_api_server(connection));
}

static bool is_read_only(const struct slurm_call *call)
{
    return strcmp(call->method, "GET") == 0;
}

/* Decide the outcome by the status of an answer that is no document: plain words, or a proxy's page. */
static void judge_words(struct slurm_connection *connection, struct slurm_call *call,
                        struct text body)
{
    struct buffer words = {0};
    quote_words(&words, text_trim(body));
    const char *said = words.length ? words.data : "nothing";
    if (call->status == 401) {
        call->outcome = SLURM_UNAVAILABLE;
        slurm_tokens_refused(connection->tokens, call->user);
        error_set(
            &call->error,
            slurm_api_is_local(connection)
                ? "slurmrestd at %s refuses dlspool's user (401: %s): on a unix socket it takes "
                  "requests of root and of the user that it runs as; else it needs a token "
                  "(slurm.token_file, slurm.token_directory)"
                : "slurmrestd at %s does not accept the token or the user's name (401: %s): it "
                  "must be started with -a rest_auth/jwt and SLURM_JWT=daemon",
            slurm_api_server(connection), said);
    } else if (call->status == 404) {
        /* The path is unknown, not the job: it may be another slurmrestd by now. */
        call->outcome = SLURM_UNAVAILABLE;
        connection->version_known = false;
        error_set(&call->error, "slurmrestd at %s has no %s (404: %s)",
                  slurm_api_server(connection), call->path.data, said);
    } else if (call->status >= 500 || call->status < 400) {
        call->outcome = is_read_only(call) ? SLURM_UNAVAILABLE : SLURM_UNKNOWN;
        error_set(&call->error, "slurmrestd at %s answered %d: %s", slurm_api_server(connection),
                  call->status, said);
    } else {
        call->outcome =
            call->status == 429 || call->status == 408 ? SLURM_UNAVAILABLE : SLURM_REFUSED;
        error_set(&call->error, "slurmrestd at %s answered %d: %s", slurm_api_server(connection),
                  call->status, said);
    }
    buffer_free(&words);
}

/* Decide the outcome by an answer that is a JSON object.  A complaint that means an outage is
 * unknown where the request may have been carried out nevertheless. */
static void judge_document(struct slurm_connection *connection, struct slurm_call *call)
{
    struct complaint complaint;
    bool good = call->status >= 200 && call->status < 300;
    if (!find_complaint(call->answer, &complaint)) {
        if (!good)
            judge_words(connection, call, TEXT("an answer without errors"));
        else
            call->outcome = SLURM_DONE;
        return;
    }
    if (call->status == 401) {
        judge_words(connection, call,
                    complaint.words.length ? complaint.words : complaint.description);
        return;
    }
    if (is_unparsed(call->answer))
        complaint.code = SLURM_CODE_PARSING;
    call->code = complaint.code;
    tell_complaint(connection, call, &complaint);
    enum outage outage = find_outage(complaint.code);
    if (outage == OUTAGE_NONE)
        call->outcome = SLURM_REFUSED;
    else if (outage == OUTAGE_MAYBE_DONE && !is_read_only(call))
        call->outcome = SLURM_UNKNOWN;
    else
        call->outcome = SLURM_UNAVAILABLE;
    if (complaint.code == NO_REPLY || complaint.code == NO_REASON)
        slurm_tokens_refused(connection->tokens, call->user);
}

/* Decide the outcome of a request.  Without an answer, or with an outage, a request that changes
 * something is unknown unless it was never sent. */
static void judge_answer(struct slurm_connection *connection, struct arena *arena,
                         struct slurm_call *call, struct http_request *request)
{
    if (request->outcome != HTTP_ANSWERED) {
        call->outcome = request->outcome == HTTP_NOT_SENT || is_read_only(call) ? SLURM_UNAVAILABLE
                                                                                : SLURM_UNKNOWN;
        call->error = request->error;
        error_prefix(&call->error, "slurmrestd (slurm.address) cannot be asked");
        return;
    }
    call->status = request->status;
    if (call->status == 304) {
        call->outcome = SLURM_UNCHANGED;
        return;
    }
    struct text body = buffer_text(&request->response);
    if (call->raw && call->status >= 200 && call->status < 300) {
        call->outcome = SLURM_DONE;
        call->response = request->response;
        request->response = (struct buffer){0};
        return;
    }
    struct error problem;
    call->answer = json_read(arena, body, "the answer", &answer_limits, &problem);
    if (call->answer && call->answer->kind == VALUE_OBJECT) {
        judge_document(connection, call);
        return;
    }
    call->answer = NULL;
    judge_words(connection, call, body);
}

void slurm_api_call_free(struct slurm_call *call)
{
    buffer_free(&call->response);
}

void slurm_api_run(struct slurm_connection *connection, struct arena *arena,
                   struct slurm_call *const *calls, size_t count)
{
    struct http_request *requests = arena_allocate(arena, (count + 1) * sizeof(*requests));
    struct http_request **batch = arena_allocate(arena, (count + 1) * sizeof(*batch));
    struct slurm_call **sent = arena_allocate(arena, (count + 1) * sizeof(*sent));
    size_t sending = 0;
    for (size_t i = 0; i < count; i++) {
        struct slurm_call *call = calls[i];
        call->code = call->status = 0;
        call->no_token = false;
        call->answer = NULL;
        call->error.text[0] = '\0';
        call->response = (struct buffer){0};
        const char *const *headers =
            slurm_tokens_headers(connection->tokens, call->user, &call->error);
        if (!headers) {
            call->outcome = SLURM_UNAVAILABLE;
            call->no_token = true;
            continue;
        }
        requests[sending] = (struct http_request){.method = call->method,
                                                  .path = call->path.data,
                                                  .body = call->body,
                                                  .headers = headers};
        batch[sending] = &requests[sending];
        sent[sending++] = call;
    }
    if (sending)
        http_run(connection->client, batch, sending);
    for (size_t i = 0; i < sending; i++) {
        judge_answer(connection, arena, sent[i], batch[i]);
        http_request_clear(batch[i]);
    }
}

/* ---- versions ---- */

const struct slurm_version *slurm_api_version(struct slurm_connection *connection,
                                              struct error *error)
{
    if (connection->version_known)
        return &connection->version;
    struct arena *arena = arena_new();
    struct slurm_call call = {.method = "GET", .path = TEXT("/openapi/v3")};
    struct slurm_call *calls[] = {&call};
    slurm_api_run(connection, arena, calls, 1);
    if (call.outcome != SLURM_DONE) {
        if (error)
            *error = call.error;
    } else if (slurm_version_choose(call.answer, connection->settings->api, &connection->version,
                                    error)) {
        error_prefix(error, "%s", slurm_api_server(connection));
    } else {
        connection->version_known = true;
    }
    slurm_api_call_free(&call);
    arena_free(arena);
    return connection->version_known ? &connection->version : NULL;
}
