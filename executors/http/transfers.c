/* executors/http/transfers.c - the transfers of a multi handle, run by the sockets that are ready */
#include "executors/http/transfers.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

enum { READY_MOST = 64 }; /* sockets that one turn runs; the others are ready in the next */

static const int64_t never = -1;

struct http_transfers {
    CURLM *multi;
    CURLSH *share; /* of what one transfer learns for the others: TLS sessions */
    int sockets;   /* of epoll: what libcurl waits for */
    int64_t due;   /* of clock_elapsed(): when libcurl wants to look at the clock */
};

/* ---- what libcurl waits for ---- */

/* Of a socket that is known, `own` is what was assigned to it when it was added. */
static int watch_socket(CURL *easy, curl_socket_t file, int what, void *context, void *own)
{
    struct http_transfers *transfers = context;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(transfers->sockets, EPOLL_CTL_DEL, file, NULL);
        return 0;
    }
    uint32_t wanted = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    struct epoll_event event = {.events = wanted,
                                .data.u64 = (uint64_t)wanted << 32 | (uint32_t)file};
    if (epoll_ctl(transfers->sockets, own ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, file, &event))
        epoll_ctl(transfers->sockets, own ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, file, &event);
    if (!own)
        curl_multi_assign(transfers->multi, file, transfers);
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
    transfers->sockets = epoll_create1(EPOLL_CLOEXEC);
    if (!transfers->multi || !transfers->share || transfers->sockets < 0) {
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
    if (transfers->sockets >= 0)
        close(transfers->sockets);
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
static int what_is_ready(const struct epoll_event *event)
{
    const uint32_t wanted = (uint32_t)(event->data.u64 >> 32), ended = EPOLLHUP | EPOLLERR;
    int what = 0;
    if (wanted & EPOLLIN && event->events & (EPOLLIN | ended))
        what |= CURL_CSELECT_IN;
    if (wanted & EPOLLOUT && event->events & (EPOLLOUT | ended))
        what |= CURL_CSELECT_OUT;
    return what ? what : CURL_CSELECT_ERR;
}

void http_transfers_turn(struct http_transfers *transfers, int64_t wait)
{
    int running;
    int64_t left = transfers->due == never ? wait : transfers->due - clock_elapsed();
    left = left < 0 ? 0 : left < wait ? left : wait;
    struct epoll_event events[READY_MOST];
    int ready =
        epoll_wait(transfers->sockets, events, READY_MOST, (int)(left < INT_MAX ? left : INT_MAX));
    for (int i = 0; i < ready; i++)
        curl_multi_socket_action(transfers->multi, (int)(uint32_t)events[i].data.u64,
                                 what_is_ready(&events[i]), &running);
    bool due = transfers->due != never && clock_elapsed() >= transfers->due;
    if (!due && ready > 0)
        return;
    transfers->due = never;
    curl_multi_socket_action(transfers->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}
