/* web/porter.h - accepts connections on a socket, and hands each to the page of its user
 *
 * Who is at the other end is what the kernel says (SO_PEERCRED): the user of the process that connected, which is
 * sshd's for that user when a port is forwarded (ssh -L PORT:SOCKET).  The porter reads nothing of what comes over
 * the connection.  Run as root it starts for each user a page (web/page.h) that is that user; else it serves its
 * own user alone.
 */
#ifndef WEB_PORTER_H
#define WEB_PORTER_H

#include <sys/types.h>

#include "base/error.h"

struct porter_settings {
    const char *spool;  /* its directory */
    const char *socket; /* absolute; made when it is not there */
    uid_t least_uid;    /* run as root: users below have no page */
    int64_t page_idle;  /* milliseconds; as page_limits.idle */
};

/* Serve until SIGTERM or SIGINT; then the socket is removed, and the pages end.  `ready`, which may be NULL, is
 * called when connections are taken.  -1 and a sentence. */
int porter_run(const struct porter_settings *settings, void (*ready)(const char *socket),
               struct error *error);

#endif
