/* web/listen.h - the sockets at which a porter takes connections */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "base/error.h"
#include "base/text.h"

/* Listen at a path; a socket that somebody has left behind is replaced.  Everybody may connect.  -1 and a sentence. */
int listen_local(const char *path, struct error *error);
/* Listen at ADDRESS:PORT, [ADDRESS]:PORT for IPv6.  -1 and a sentence. */
int listen_network(struct text address, struct error *error);
/* The first socket of that kind, AF_UNIX or AF_INET (of version 4 or 6), that systemd has opened and listens at
 * (sd_listen_fds(3)); -1: none. */
int listen_given(int domain);
/* Where it listens; NULL when that is no path. */
enum { LISTEN_PATH_SIZE = 109 };
const char *listen_path(int listener, char path[static LISTEN_PATH_SIZE]);

#endif
