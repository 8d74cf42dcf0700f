/* executors/kubernetes/watch.h - one collection, listed and then watched
 *
 * A watch lists its collection in pages, and follows it from the list's version on through a stream
 * that the server ends every few minutes and that is taken up again where it was.  When the version
 * has expired (410, as a status or as an event) it lists again; after any other failure it waits, a
 * second at first and up to half a minute, each time a little at random, and as long as the server
 * asks.
 *
 *   list ----> watching ----> watching ...      the stream ended: resumed from the last version
 *    ^            |
 *    +---- 410 ---+       and when a stream brought nothing at all, not even a bookmark, for as
 *                         long as it lived: the version may be from before a restored backup
 *
 * A stream without a line for two minutes counts as dead and is opened again.
 *
 * Watches are driven together, so that their lists are asked for at the same time; one that fails
 * does not hold up the others.  kubernetes_watch_drive_all() blocks for as long as a list takes (the
 * request time-out at most), never for a stream.
 *
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
#ifndef EXECUTORS_KUBERNETES_WATCH_H
#define EXECUTORS_KUBERNETES_WATCH_H

#include "executors/kubernetes/api.h"

struct kubernetes_consumer {
    /* A list begins (perhaps again, before the one before it was whole). */
    void (*list_begin)(void *context);
    /* An object as it is now, or as it was when it was deleted.  It lives until this returns.
     * `listed`: it is part of the list. */
    void (*object)(void *context, const struct value *object, bool deleted, bool listed);
    void (*list_end)(void *context);
    void *context;
};

struct kubernetes_watch;

/* `path` is the collection's, `query` what selects ("labelSelector=...", escaped; or ""), `page` the
 * number of objects asked for at a time. */
struct kubernetes_watch *kubernetes_watch_new(const char *path, const char *query, int page,
                                              const struct kubernetes_consumer *consumer);
void kubernetes_watch_free(struct kubernetes_watch *watch); /* NULL is fine; closes its stream */

/* Bring all of them on by what the server has to say now.  `wait`: milliseconds to wait for streams
 * at most. */
void kubernetes_watch_drive_all(struct kubernetes_connection *connection,
                                struct kubernetes_watch *const *watches, size_t count,
                                int64_t wait);

/* Whether a list was whole once: what the consumer has is worth something. */
bool kubernetes_watch_listed(const struct kubernetes_watch *watch);
/* Milliseconds since when it is neither watching nor listing with success; 0 when all is well. */
int64_t kubernetes_watch_blind(const struct kubernetes_watch *watch);
/* The sentence of the last failure; "" when the last attempt went well. */
const char *kubernetes_watch_trouble(const struct kubernetes_watch *watch);

#endif
