/* web/listen.h - the sockets at which a porter takes connections */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "base/error.h"
#include "base/text.h"

/* Listen at a path; a socket that somebody has left behind is replaced.  Everybody may connect.  -1 and a sentence. */
int listen_local(const char *path, struct error *error);
/* Listen at ADDRESS:PORT, [ADDRESS]:PORT for IPv6.  -1 and a sentence. */
int listen_network(struct text address, struct error *error);
/* The socket that systemd has opened (sd_listen_fds(3)); -1: none. */
int listen_given(void);

#endif
