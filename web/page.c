/* web/page.c - the process that answers one user's requests, as that user */
#include "web/page.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "archive/unpack.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/system.h"
#include "spool/settings.h"
#include "stages/sandbox.h"
#include "web/answer.h"
#include "web/list_memo.h"
#include "web/own_name.h"
#include "web/pass.h"
#include "web/server.h"

static const struct server_limits usual_limits = {
    .connections = 64, .idle = 30, .body = (size_t)1024 * 1024};

struct page {
    struct spool spool;
    struct settings settings;
    struct server *server;
    int socket; /* to the porter; -1: it has gone, or has been told that this page ends */
    int64_t idle, last_used; /* of clock_elapsed() */
    bool ending;
};

static void answer(void *context, struct exchange *exchange)
{
    const struct page *page = context;
    answer_request(exchange, &page->settings.web.hosts);
}

static void take_connections(struct page *page)
{
    for (;;) {
        struct pass_terms terms;
        int connection = pass_receive(page->socket, &terms);
        if (connection < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN) {
                sys.close(page->socket);
                page->socket = -1;
            }
            return;
        }
        page->last_used = clock_elapsed();
        server_add(page->server, connection, &terms);
    }
}

/* Tell the porter that this page ends: it sends no more connections, and what it has sent is still answered. */
static void announce_end(struct page *page)
{
    page->ending = true;
    if (send(page->socket, "e", 1, MSG_NOSIGNAL) != 1) {
        sys.close(page->socket);
        page->socket = -1;
    }
}

/* Milliseconds to wait for at most; -1: for anything. */
static int time_left(struct page *page)
{
    int due = server_timeout(page->server);
    if (page->ending || server_connections(page->server))
        return due;
    int64_t left = page->last_used + page->idle - clock_elapsed();
    left = left > 0 ? left : 0;
    left = left < INT32_MAX ? left : INT32_MAX;
    return due >= 0 && due < left ? due : (int)left;
}

/* Nobody is connected: keep no more memory than a page needs that waits. */
static void rest(void)
{
    list_memo_clear();
    malloc_trim(0);
}

static int serve(struct page *page, struct error *error)
{
    bool busy = false;
    while (page->socket >= 0 || server_connections(page->server)) {
        struct pollfd files[] = {{.fd = server_descriptor(page->server), .events = POLLIN},
                                 {.fd = page->socket, .events = POLLIN}};
        if (poll(files, ARRAY_COUNT(files), time_left(page)) < 0 && errno != EINTR)
            return error_errno(error, "the page could not wait for requests");
        if (page->socket >= 0 && files[1].revents)
            take_connections(page);
        server_run(page->server);
        if (busy && !server_connections(page->server))
            rest();
        busy = server_connections(page->server) != 0;
        if (busy)
            page->last_used = clock_elapsed();
        else if (!page->ending && page->socket >= 0 &&
                 clock_elapsed() - page->last_used >= page->idle)
            announce_end(page);
    }
    return 0;
}

/* From here on this process reads the spool and writes to incoming/, and reaches no other files; its user's rights are
 * the same as before. */
static int confine(const struct spool *spool, struct error *error)
{
    own_name_read();
    unpack_prepare(NULL);
    return sandbox_enter(spool, TEXT(""), SANDBOX_PAGE, error);
}

int page_run(const char *spool, int socket, const struct page_limits *limits, struct error *error)
{
    struct page page = {.socket = socket, .idle = limits->idle, .last_used = clock_elapsed()};
    if (spool_open(&page.spool, spool, error))
        return -1;
    if (settings_read(&page.settings, &page.spool, error)) {
        spool_close(&page.spool);
        return -1;
    }
    page.server = server_start(&page.spool, &usual_limits, answer, &page, error);
    int result = page.server ? confine(&page.spool, error) : -1;
    if (!result)
        result = serve(&page, error);
    server_stop(page.server);
    if (page.socket >= 0)
        sys.close(page.socket);
    settings_free(&page.settings);
    spool_close(&page.spool);
    return result;
}
