/* tests/fuzz/server.h - in place of executors/http/http.c: a server that answers what the input says
 *
 * Its parts, with lines of `---` between them, one for each request, of which the first line is the status (0: no
 * connection; 1: sent, and no answer; 2: as 200).  When no part is left, there is no answer.
 */
#ifndef TESTS_FUZZ_SERVER_H
#define TESTS_FUZZ_SERVER_H

#include "executors/http/http.h"
#include "tests/fuzz/fuzz.h"

struct http_client {
    struct text answers; /* that are left */
};

static struct http_client server;

/* The target's: check the request; true, and the part, when it is answered whatever the input says. */
static bool server_has_own_answer(const struct http_request *request, struct text *part);

struct http_client *http_open(const struct http_settings *settings, struct error *error)
{
    (void)settings;
    (void)error;
    return &server;
}

void http_close(struct http_client *client)
{
    (void)client;
}

static void server_answer(struct http_client *client, struct http_request *request)
{
    struct text part, status;
    buffer_clear(&request->response);
    request->error.text[0] = '\0';
    request->retry_after = 0;
    CHECK(request->path && request->path[0] == '/' && !strpbrk(request->path, " \r\n#"));
    CHECK(!strstr(request->path, "..") && !strstr(request->path, "(null)"));
    CHECK(strchr(request->path, '?') == strrchr(request->path, '?'));
    if (!server_has_own_answer(request, &part))
        part = client->answers.length ? fuzz_part(&client->answers) : TEXT("1");
    if (!text_next(&part, '\n', &status))
        status = TEXT("1");
    request->status = 0;
    for (size_t i = 0; i < status.length && i < 3; i++)
        if (status.data[i] >= '0' && status.data[i] <= '9')
            request->status = request->status * 10 + (status.data[i] - '0');
    request->outcome = request->status == 0   ? HTTP_NOT_SENT
                       : request->status == 1 ? HTTP_NO_ANSWER
                                              : HTTP_ANSWERED;
    if (request->outcome != HTTP_ANSWERED) {
        request->status = 0;
        error_set(&request->error, "no answer");
        return;
    }
    if (request->status < 100)
        request->status = 200;
    buffer_add_text(&request->response, part.data ? part : TEXT(""));
}

void http_run(struct http_client *client, struct http_request *const *batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        server_answer(client, batch[i]);
}

void http_request_clear(struct http_request *request)
{
    buffer_free(&request->response);
}

void http_escape(struct buffer *out, struct text part)
{
    for (size_t i = 0; i < part.length; i++)
        buffer_printf(out, "%%%02X", (unsigned char)part.data[i]);
}

#endif
