/* web/door.c - the process that finds out what a connection over a network says of its user */
#include "web/door.h"

#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/sha256.h"
#include "web/head.h"

enum { PATIENCE = 10 };       /* seconds for all of it */
enum { LINGER = 1000 };       /* milliseconds that a reply waits for its reader */
enum { LONGEST_FORM = 1024 }; /* bytes of the form to sign in */
enum { RECEIVED_MOST = HEAD_LONGEST + LONGEST_FORM + 1 };

struct door {
    bool proxy, stream_of_unix;
    char bytes[RECEIVED_MOST];
    size_t length;
    struct head head;
};

/* ---- confinement ---- */

static const int allowed[] = {
    SCMP_SYS(recvfrom),       SCMP_SYS(sendto),          SCMP_SYS(read),
    SCMP_SYS(write),          SCMP_SYS(writev),          SCMP_SYS(poll),
    SCMP_SYS(ppoll),          SCMP_SYS(shutdown),        SCMP_SYS(brk),
    SCMP_SYS(munmap),         SCMP_SYS(mremap),          SCMP_SYS(madvise),
    SCMP_SYS(futex),          SCMP_SYS(getrandom),       SCMP_SYS(clock_gettime),
    SCMP_SYS(rt_sigreturn),   SCMP_SYS(close),           SCMP_SYS(exit),
    SCMP_SYS(exit_group),     SCMP_SYS(restart_syscall), SCMP_SYS(getpid),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction)};

/* From here on nothing can be opened, and nobody reached but by the two sockets. */
static int confine(void)
{
    static const struct rlimit none = {0, 0};
    const struct itimerval end = {.it_value = {.tv_sec = PATIENCE}};
    const struct scmp_arg_cmp data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    char hex[SHA256_HEX_SIZE];
    sha256_hex(TEXT(""), hex); /* the library does at first what it may not do later */
    if (setitimer(ITIMER_REAL, &end, NULL) || setrlimit(RLIMIT_FSIZE, &none) ||
        setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int result = filter ? 0 : -1;
    for (size_t i = 0; i < ARRAY_COUNT(allowed) && !result; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    if (!result)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, data);
    if (!result)
        result = seccomp_load(filter);
    seccomp_release(filter);
    return result == -ENOSYS || result == -EINVAL ? 0 : result;
}

/* ---- the request ---- */

/* Look at what has come, once there is more than before, and leave it where it is.  False at the end. */
static bool look(struct door *door)
{
    ssize_t count;
    if (door->length == sizeof(door->bytes))
        return false;
    if (door->stream_of_unix) { /* it looks on where it looked last (SO_PEEK_OFF) */
        count = recv(DOOR_CONNECTION, door->bytes + door->length,
                     sizeof(door->bytes) - door->length, MSG_PEEK);
        if (count > 0)
            door->length += (size_t)count;
        return count > 0;
    }
    count = recv(DOOR_CONNECTION, door->bytes, door->length + 1, MSG_PEEK | MSG_WAITALL);
    if (count <= (ssize_t)door->length)
        return false;
    count = recv(DOOR_CONNECTION, door->bytes, sizeof(door->bytes), MSG_PEEK | MSG_DONTWAIT);
    if (count > (ssize_t)door->length)
        door->length = (size_t)count;
    return count > 0;
}

static enum head_result look_at_head(struct door *door)
{
    enum head_result result = HEAD_PART;
    while (result == HEAD_PART && look(door))
        result = head_read((struct text){door->bytes, door->length}, &door->head);
    return result;
}

static struct text look_at_body(struct door *door)
{
    if (door->head.body > LONGEST_FORM)
        return TEXT("");
    size_t whole = door->head.length + (size_t)door->head.body;
    while (door->length < whole && look(door))
        continue;
    return door->length < whole
               ? TEXT("")
               : (struct text){door->bytes + door->head.length, (size_t)door->head.body};
}

/* ---- what it answers itself ---- */

/* Send a reply; what the other has sent and nobody has read is read, as else the connection would be reset and the
 * reply be lost. */
static void reply(const char *status, const char *headers, const char *type, const char *content)
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
    if (send(DOOR_CONNECTION, head, (size_t)length, MSG_NOSIGNAL) == length &&
        send(DOOR_CONNECTION, content, strlen(content), MSG_NOSIGNAL) >= 0)
        shutdown(DOOR_CONNECTION, SHUT_WR);
    struct pollfd file = {.fd = DOOR_CONNECTION, .events = POLLIN};
    while (poll(&file, 1, LINGER) > 0 && recv(DOOR_CONNECTION, rest, sizeof(rest), 0) > 0)
        continue;
}

static const char problem_type[] = "application/problem+json",
                  page_type[] = "text/html; charset=utf-8";

static void reply_problem(const char *status, const char *title, const char *headers,
                          const char *sentence)
{
    char content[1024];
    snprintf(content, sizeof(content),
             "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%.3s,\"detail\":\"%s\"}\n",
             title, status, sentence);
    reply(status, headers, problem_type, content);
}

/* The sentence is the porter's or our own, and has no markup. */
static void reply_form(const char *sentence)
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
    reply("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", page_type, content);
}

static void reply_unknown(const struct door *door, const char *sentence)
{
    if (text_contains(door->head.accept, TEXT("text/html")))
        reply_form(sentence);
    else
        reply_problem("401 Unauthorized", "Unauthorized", "WWW-Authenticate: Bearer\r\n", sentence);
}

/* Was the form sent by a page of our own?  What a browser says of the site counts, as it hides the origin of a page
 * with our Referrer-Policy. */
static bool is_own_form(const struct head *head)
{
    if (head->site.length)
        return text_is(head->site, "same-origin");
    struct text host = head->origin;
    size_t scheme = text_starts(host, "https://") ? 8 : text_starts(host, "http://") ? 7 : 0;
    host = (struct text){host.data + scheme, host.length - scheme};
    return scheme && text_equal(host, head->host);
}

/* Have the browser send the token from now on, or (with an empty one) no more. */
static void reply_cookie(const struct door *door, struct text token, const char *place)
{
    bool secure = door->proxy && text_is(door->head.scheme, "https");
    char headers[512];
    snprintf(
        headers, sizeof(headers),
        "Location: %s\r\nSet-Cookie: %sdlspool=%.*s; Path=/; HttpOnly; SameSite=Strict%s%s\r\n",
        place, secure ? "__Host-" : "", (int)token.length, token.data, secure ? "; Secure" : "",
        token.length ? "" : "; Max-Age=0");
    reply("303 See Other", headers, page_type, "");
}

static void sign_in(struct door *door)
{
    struct text body = look_at_body(door), token = TEXT("");
    if (text_starts(body, "token=")) {
        token = text_trim((struct text){body.data + 6, body.length - 6});
        token.length =
            token.data && memchr(token.data, '&', token.length)
                ? (size_t)((const char *)memchr(token.data, '&', token.length) - token.data)
                : token.length;
    }
    if (!is_own_form(&door->head))
        reply_problem("403 Forbidden", "Forbidden", "",
                      "a page of another site asked for this; nothing was done");
    else if (!head_is_token(token))
        reply_form("That is no token. It begins with dlspool_ and has 72 letters.");
    else
        reply_cookie(door, token, "/jobs");
}

/* Answer what needs no user.  False: it is something else. */
static bool answer(struct door *door)
{
    const struct head *head = &door->head;
    bool get = text_is(head->method, "GET"), post = text_is(head->method, "POST");
    if (get && text_is(head->target, "/healthz"))
        reply("200 OK", "", "text/plain", "ok\n");
    else if (get && text_is(head->target, "/sign-in"))
        reply_form("Paste a token.");
    else if (post && text_is(head->target, "/sign-in"))
        sign_in(door);
    else if (post && text_is(head->target, "/sign-out") && is_own_form(head))
        reply_cookie(door, TEXT(""), "/sign-in");
    else
        return false;
    return true;
}

/* ---- the porter ---- */

/* What the request says of its user.  False: nothing. */
static bool find_claim(const struct door *door, struct door_claim *claim)
{
    const struct head *head = &door->head;
    struct text token = head_token(head);
    memset(claim, 0, sizeof(*claim));
    if (door->proxy && head->remote_user.length) {
        claim->proof = DOOR_USER;
        text_copy(claim->word, sizeof(claim->word), head->remote_user);
        return head->remote_user.length < sizeof(claim->word);
    }
    if (!token.length)
        return false;
    char hex[SHA256_HEX_SIZE];
    sha256_hex(token, hex);
    claim->proof = DOOR_TOKEN;
    memcpy(claim->word, hex, sizeof(hex));
    return true;
}

/* What would be markup, or the end of a text of JSON, is none in a sentence. */
static void make_plain(char *sentence)
{
    for (char *byte = sentence; *byte; byte++)
        if (strchr("\"\\<>&", *byte) || (unsigned char)*byte < ' ')
            *byte = '\'';
}

static void ask_porter(const struct door *door)
{
    struct door_claim claim;
    struct door_answer told;
    if (!find_claim(door, &claim)) {
        reply_unknown(door, "This needs a token, which dlspool token makes.");
        return;
    }
    if (send(DOOR_SOCKET, &claim, sizeof(claim), MSG_NOSIGNAL) != (ssize_t)sizeof(claim) ||
        recv(DOOR_SOCKET, &told, sizeof(told), 0) != (ssize_t)sizeof(told))
        return;
    told.why[sizeof(told.why) - 1] = '\0';
    make_plain(told.why);
    if (!told.taken && claim.proof == DOOR_TOKEN)
        reply_unknown(door, told.why);
    else if (!told.taken)
        reply_problem("403 Forbidden", "Forbidden", "", told.why);
}

int door_run(bool proxy)
{
    static struct door door;
    int domain = 0, start = 0;
    socklen_t length = sizeof(domain);
    door.proxy = proxy;
    if (getsockopt(DOOR_CONNECTION, SOL_SOCKET, SO_DOMAIN, &domain, &length))
        return 1;
    door.stream_of_unix = domain == AF_UNIX;
    if (door.stream_of_unix &&
        setsockopt(DOOR_CONNECTION, SOL_SOCKET, SO_PEEK_OFF, &start, sizeof(start)))
        return 1;
    if (confine())
        return 1;
    enum head_result result = look_at_head(&door);
    if (result == HEAD_BAD)
        reply_problem("400 Bad Request", "Bad Request", "",
                      "the head of the request cannot be read");
    else if (result == HEAD_WHOLE && !answer(&door))
        ask_porter(&door);
    return 0;
}
