/* executors/http/transfers.c - the transfers of a multi handle, run by the sockets that are ready */
#include "executors/http/transfers.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

static const int64_t never = -1;

struct http_transfers {
    CURLM *multi;
    CURLSH *share;          /* of what one transfer learns for the others: TLS sessions */
    struct pollfd *sockets; /* what libcurl waits for */
    size_t count, capacity;
    struct pollfd *ready; /* of one turn, in which `sockets` changes */
    size_t ready_capacity;
    int64_t due; /* of clock_elapsed(): when libcurl wants to look at the clock */
};

/* ---- what libcurl waits for ---- */

static struct pollfd *find_socket(struct http_transfers *transfers, int file)
{
    for (size_t i = 0; i < transfers->count; i++)
        if (transfers->sockets[i].fd == file)
            return &transfers->sockets[i];
    return NULL;
}

static struct pollfd *add_socket(struct http_transfers *transfers, int file)
{
    transfers->sockets = memory_grow(transfers->sockets, transfers->count, &transfers->capacity,
                                     sizeof(*transfers->sockets));
    struct pollfd *socket = &transfers->sockets[transfers->count++];
    *socket = (struct pollfd){.fd = file};
    return socket;
}

static int watch_socket(CURL *easy, curl_socket_t file, int what, void *context, void *own)
{
    struct http_transfers *transfers = context;
    struct pollfd *socket = find_socket(transfers, file);
    (void)easy, (void)own;
    if (what == CURL_POLL_REMOVE) {
        if (socket)
            *socket = transfers->sockets[--transfers->count];
        return 0;
    }
    if (!socket)
        socket = add_socket(transfers, file);
    socket->events =
        (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
    return 0;
}

static int set_timer(CURLM *multi, long wait, void *context)
{
    struct http_transfers *transfers = context;
    (void)multi;
    transfers->due = wait < 0 ? never : clock_elapsed() + wait + (wait > 0);
    return 0;
}

struct http_transfers *http_transfers_new(void)
{
    struct http_transfers *transfers = memory_allocate(sizeof(*transfers));
    transfers->due = never;
    transfers->multi = curl_multi_init();
    transfers->share = curl_share_init();
    if (!transfers->multi || !transfers->share) {
        http_transfers_free(transfers);
        return NULL;
    }
    curl_share_setopt(transfers->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETDATA, transfers);
    curl_multi_setopt(transfers->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(transfers->multi, CURLMOPT_TIMERDATA, transfers);
    return transfers;
}

void http_transfers_free(struct http_transfers *transfers)
{
    if (!transfers)
        return;
    curl_multi_cleanup(transfers->multi);
    curl_share_cleanup(transfers->share);
    free(transfers->sockets);
    free(transfers->ready);
    free(transfers);
}

CURLM *http_transfers_multi(const struct http_transfers *transfers)
{
    return transfers->multi;
}

CURLSH *http_transfers_share(const struct http_transfers *transfers)
{
    return transfers->share;
}

/* ---- a turn ---- */

/* What libcurl is told of a socket: a closed connection can be read from, which tells that it is. */
static int what_is_ready(const struct pollfd *socket)
{
    const short in = POLLIN | POLLHUP | POLLERR, out = POLLOUT | POLLHUP | POLLERR;
    int what = 0;
    if (socket->events & POLLIN && socket->revents & in)
        what |= CURL_CSELECT_IN;
    if (socket->events & POLLOUT && socket->revents & out)
        what |= CURL_CSELECT_OUT;
    return what ? what : CURL_CSELECT_ERR;
}

/* Note the sockets that are ready within `wait` milliseconds.  Returns their number. */
static size_t await_sockets(struct http_transfers *transfers, int64_t wait)
{
    size_t ready = 0;
    int most = (int)(wait < INT_MAX ? wait : INT_MAX);
    if (poll(transfers->sockets, (nfds_t)transfers->count, most) <= 0)
        return 0;
    for (size_t i = 0; i < transfers->count; i++) {
        if (!transfers->sockets[i].revents)
            continue;
        transfers->ready = memory_grow(transfers->ready, ready, &transfers->ready_capacity,
                                       sizeof(*transfers->ready));
        transfers->ready[ready++] = transfers->sockets[i];
    }
    return ready;
}

void http_transfers_turn(struct http_transfers *transfers, int64_t wait)
{
    int running;
    int64_t left = transfers->due == never ? wait : transfers->due - clock_elapsed();
    left = left < 0 ? 0 : left < wait ? left : wait;
    size_t ready = await_sockets(transfers, left);
    for (size_t i = 0; i < ready; i++)
        curl_multi_socket_action(transfers->multi, transfers->ready[i].fd,
                                 what_is_ready(&transfers->ready[i]), &running);
    bool due = transfers->due != never && clock_elapsed() >= transfers->due;
    if (!due && ready)
        return;
    transfers->due = never;
    curl_multi_socket_action(transfers->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}
