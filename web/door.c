/* web/door.c - the process that finds out what a connection over a network says of its user */
#include "web/door.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sha256.h"
#include "web/door_confine.h"
#include "web/door_reply.h"
#include "web/head.h"
#include "web/openpai_door.h"

enum { LONGEST_FORM = 1024 }; /* bytes of the form to sign in */
enum { RECEIVED_MOST = HEAD_LONGEST + LONGEST_FORM + 1 };

struct door {
    bool proxy, stream_of_unix;
    char bytes[RECEIVED_MOST];
    size_t length;
    struct head head;
};

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

static void reply_unknown(const struct door *door, const char *sentence)
{
    if (openpai_door_is_asked(&door->head))
        door_reply_openpai(DOOR_CONNECTION, "401 Unauthorized", "UnauthorizedUserError", sentence);
    else if (text_contains(door->head.accept, TEXT("text/html")))
        door_reply_form(DOOR_CONNECTION, sentence);
    else
        door_reply_problem(DOOR_CONNECTION, "401 Unauthorized", "Unauthorized",
                           "WWW-Authenticate: Bearer\r\n", sentence);
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
    door_reply(DOOR_CONNECTION, "303 See Other", headers, door_reply_page_type, "");
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
        door_reply_problem(DOOR_CONNECTION, "403 Forbidden", "Forbidden", "",
                           "a page of another site asked for this; nothing was done");
    else if (!head_is_token(token))
        door_reply_form(DOOR_CONNECTION,
                        "That is no token. It begins with dlspool_ and has 72 letters.");
    else
        reply_cookie(door, token, "/jobs");
}

/* Answer what needs no user.  False: it is something else. */
static bool answer(struct door *door)
{
    const struct head *head = &door->head;
    bool get = text_is(head->method, "GET"), post = text_is(head->method, "POST");
    if (get && text_is(head->target, "/healthz"))
        door_reply(DOOR_CONNECTION, "200 OK", "", "text/plain", "ok\n");
    else if (openpai_door_info(head) && !head_token(head).length)
        door_reply(DOOR_CONNECTION, "200 OK", "", door_reply_json_type, openpai_door_info(head));
    else if (get && text_is(head->target, "/sign-in"))
        door_reply_form(DOOR_CONNECTION, "Paste a token.");
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
static bool find_claim(struct door *door, struct door_claim *claim)
{
    const struct head *head = &door->head;
    struct text token =
        openpai_door_signs_in(head) ? openpai_door_token(look_at_body(door)) : head_token(head);
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

static void ask_porter(struct door *door)
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
        door_reply_problem(DOOR_CONNECTION, "403 Forbidden", "Forbidden", "", told.why);
}

int door_run(bool proxy)
{
    static struct door door;
    int domain = 0, start = 0;
    socklen_t length = sizeof(domain);
    /* Other processes of its user, which may be nobody's, do not look into it: it reads others' tokens. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    door.proxy = proxy;
    if (getsockopt(DOOR_CONNECTION, SOL_SOCKET, SO_DOMAIN, &domain, &length))
        return 1;
    door.stream_of_unix = domain == AF_UNIX;
    if (door.stream_of_unix &&
        setsockopt(DOOR_CONNECTION, SOL_SOCKET, SO_PEEK_OFF, &start, sizeof(start)))
        return 1;
    if (door_confine())
        return 1;
    enum head_result result = look_at_head(&door);
    if (result == HEAD_BAD)
        door_reply_problem(DOOR_CONNECTION, "400 Bad Request", "Bad Request", "",
                           "the head of the request cannot be read");
    else if (result == HEAD_WHOLE && !answer(&door))
        ask_porter(&door);
    return 0;
}
