/* web/porter.h - accepts connections on a socket, and hands each to the page of its user
 *
 * Who is at the other end is what the kernel says (SO_PEERCRED): the user of the process that connected, which is
 * sshd's for that user when a port is forwarded (ssh -L PORT:SOCKET).  The porter reads nothing of what comes over
 * the connection.  Run as root it starts for each user a page (web/page.h) that is that user; else it serves its
 * own user alone.
 *
 * Over a network, and from a proxy, the kernel does not say whose a connection is.  A door (web/door.h) looks for what
 * does, a process for each connection, and the porter takes its word only for which token there is, and of a proxy's
 * connection for the user that the proxy names.
 */
#ifndef WEB_PORTER_H
#define WEB_PORTER_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "spool/spool.h"

struct porter_settings {
    const struct spool *spool;
    const char *socket;   /* absolute; made when it is not there, unless systemd has given one */
    struct text network;  /* "ADDRESS:PORT" for those who have a token; empty: none */
    uid_t least_uid;      /* run as root: users below have no page */
    const uid_t *proxies; /* users whose programs name the user for whom they connect */
    size_t proxy_count;
    int64_t page_idle;     /* milliseconds; as page_limits.idle */
    int64_t token_longest; /* ... that a token counts at most */
};

/* Serve until SIGTERM or SIGINT; then the socket is removed, and the pages end.  A socket that systemd has opened
 * (sd_listen_fds(3)) is served in place of the one of the settings, and stays; so is one of a network.  `ready`, which
 * may be NULL, is called when connections are taken, with the socket that is served.  -1 and a sentence. */
typedef void porter_ready(const struct porter_settings *settings);
int porter_run(const struct porter_settings *settings, porter_ready *ready, struct error *error);

#endif
