/* executors/http/transfers.h - the transfers of a multi handle, run by the sockets that are ready
 *
 * libcurl tells which sockets it waits for and when it wants to look at the clock, so that each turn costs one
 * epoll_wait() and touches only the transfers for which there is something to do.  curl_multi_perform() asks after
 * each transfer's socket by itself, whatever has come.
 */
#ifndef EXECUTORS_HTTP_TRANSFERS_H
#define EXECUTORS_HTTP_TRANSFERS_H

#include <curl/curl.h>
#include <stdint.h>

struct http_transfers;

struct http_transfers *http_transfers_new(void); /* NULL: libcurl has no memory */
void http_transfers_free(
    struct http_transfers *transfers); /* closes all connections; NULL is fine */

/* The multi handle: transfers are added to it, and removed from it. */
CURLM *http_transfers_multi(const struct http_transfers *transfers);

/* The share that each transfer's handle is given (CURLOPT_SHARE), and that outlives it: with it a connection is
 * made by the TLS session of one before it, without another look at the server's certificate.  OpenSSL uses each ticket
 * once, so of many connections that are made at the same time only some are. */
CURLSH *http_transfers_share(const struct http_transfers *transfers);

/* Wait until something can be done, for `wait` milliseconds at most, and do it. */
void http_transfers_turn(struct http_transfers *transfers, int64_t wait);

#endif
