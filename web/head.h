/* web/head.h - the head of a request of HTTP, read strictly, for what it says of who asks
 *
 * Only the door (web/door.h) reads it so, before anybody is known; the page reads the request again with
 * libmicrohttpd.  What two readers might take differently is refused: a line that does not end in CR LF, a folded
 * line, a space before a colon, a header twice that says who asks or how long the request is.
 */
#ifndef WEB_HEAD_H
#define WEB_HEAD_H

#include <stdbool.h>

#include "base/text.h"

enum { HEAD_LONGEST = 16 * 1024 }; /* bytes */

enum head_result { HEAD_PART, HEAD_WHOLE, HEAD_BAD };

/* Views of the bytes; empty: it has no such header. */
struct head {
    struct text method, target;
    struct text host, origin, site, accept, authorization, cookie, remote_user, scheme;
    int64_t body;  /* bytes that follow, as Content-Length says; 0 */
    size_t length; /* of the head, with the empty line */
};

/* HEAD_PART: it has not all come yet. */
enum head_result head_read(struct text bytes, struct head *head);

/* The token of `Authorization: Bearer TOKEN`, or of the cookie `dlspool` or `__Host-dlspool`; empty: there is none. */
struct text head_token(const struct head *head);
/* Can it be a token at all? */
bool head_is_token(struct text text);

#endif
