/* web/pass.h - passes open connections from one process to another, over a socket of unix(7) */
#ifndef WEB_PASS_H
#define WEB_PASS_H

#include <stdbool.h>

#include "spool/access_token.h"

/* What a connection may be used for. */
struct pass_terms {
    enum access_scope scope;
    bool once; /* for one request */
};

/* A pair of sockets for it, not inherited by programs.  -1 with errno. */
int pass_pair(int sockets[2]);

/* Pass the connection; it stays open here.  -1 with errno; EAGAIN: the other has not taken the ones before. */
int pass_send(int socket, int connection, const struct pass_terms *terms);

/* Take one.  -1 with errno: EAGAIN, there is none now; ENOTCONN, the other has gone. */
int pass_receive(int socket, struct pass_terms *terms);

#endif
