/* web/door_reply.c - what a door answers itself */
#include "web/door_reply.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { LINGER = 1000 }; /* milliseconds that a reply waits for its reader */

/* Send a reply; what the other has sent and nobody has read is read, as else the connection would be reset and the
 * reply be lost. */
void door_reply(int connection, const char *status, const char *headers, const char *type,
                const char *content)
{
    char head[1024], rest[1024];
    int length =
        snprintf(head, sizeof(head),
                 "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
                 "Content-Security-Policy: default-src 'none'; style-src 'self'; form-action "
                 "'self'; frame-ancestors 'none'; base-uri 'none'\r\n"
                 "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                 "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
                 status, type, strlen(content), headers);
    if (send(connection, head, (size_t)length, MSG_NOSIGNAL) == length &&
        send(connection, content, strlen(content), MSG_NOSIGNAL) >= 0)
        shutdown(connection, SHUT_WR);
    struct pollfd file = {.fd = connection, .events = POLLIN};
    while (poll(&file, 1, LINGER) > 0 && recv(connection, rest, sizeof(rest), 0) > 0)
        continue;
}

const char door_reply_page_type[] = "text/html; charset=utf-8",
           door_reply_json_type[] = "application/json";
static const char problem_type[] = "application/problem+json";

void door_reply_problem(int connection, const char *status, const char *title, const char *headers,
                        const char *sentence)
{
    char content[1024];
    snprintf(content, sizeof(content),
             "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%.3s,\"detail\":\"%s\"}\n",
             title, status, sentence);
    door_reply(connection, status, headers, problem_type, content);
}

void door_reply_form(int connection, const char *sentence)
{
    char content[2048];
    snprintf(
        content, sizeof(content),
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<meta name=\"color-scheme\" content=\"light dark\"><title>Sign in - dlspool</title></head>"
        "<body><main><h1>Sign in</h1><p>%s</p>"
        "<form method=\"post\" action=\"/sign-in\"><p><label>Token, as <code>dlspool token</code> "
        "prints it <input type=\"password\" name=\"token\" required autofocus autocomplete=\"off\"></label></p>"
        "<p><button>Sign in</button></p></form></main></body></html>\n",
        sentence);
    door_reply(connection, "401 Unauthorized", "WWW-Authenticate: Bearer\r\n", door_reply_page_type,
               content);
}

void door_reply_openpai(int connection, const char *status, const char *code, const char *sentence)
{
    char content[1024];
    snprintf(content, sizeof(content), "{\"code\":\"%s\",\"message\":\"%s\"}\n", code, sentence);
    door_reply(connection, status, "", door_reply_json_type, content);
}
