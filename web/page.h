/* web/page.h - the process that answers one user's requests, as that user
 *
 * It is given connections by the porter (web/porter.h), and ends when it had none for a while.  What its user may not
 * read it cannot show, and what it drops into incoming/ is the user's, as it is the user's own process.
 */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <stdint.h>

#include "base/error.h"

/* The descriptor on which a page that was executed finds the socket to its porter. */
enum { PAGE_SOCKET = 3 };

struct page_limits {
    int64_t idle; /* milliseconds without a connection until the page ends */
};

/* Serve the spool until there was no connection for so long, or the porter has gone.  -1 and a sentence. */
int page_run(const char *spool, int socket, const struct page_limits *limits, struct error *error);

#endif
