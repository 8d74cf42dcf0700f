/* web/server.h - speaks HTTP on connections that are open already, and has each request answered
 *
 * A single thread.  Nothing here blocks: a reply that must wait for something is asked for again
 * (exchange->again), and meanwhile others are answered.
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include <stdint.h>

#include "web/exchange.h"
#include "web/pass.h"

struct server;

/* What answers a request: it leaves a reply in the exchange, or sets exchange->again. */
typedef void server_answer(void *context, struct exchange *exchange);

struct server_limits {
    unsigned int connections; /* open at once */
    unsigned int idle;        /* seconds until an idle connection is closed */
    size_t body;              /* bytes of a request's body */
};

/* NULL and a sentence when that cannot be had.  The spool must live as long. */
struct server *server_start(const struct spool *spool, const struct server_limits *limits,
                            server_answer *answer, void *context, struct error *error);
void server_stop(struct server *server);

/* Take over a connection; false when it was closed, as there are too many. */
bool server_add(struct server *server, int connection, const struct pass_terms *terms);

/* How many connections are open. */
size_t server_connections(const struct server *server);

/* To be polled for reading, and how many milliseconds at most until server_run() is due; -1: no limit. */
int server_descriptor(const struct server *server);
int server_timeout(struct server *server);
/* Do what can be done now. */
void server_run(struct server *server);

#endif
