/* web/answer.h - answers a request to a page: whether it may be, and which handler does
 *
 * A new part of the pages or of the API is a table of routes, listed in answer.c.
 */
#ifndef WEB_ANSWER_H
#define WEB_ANSWER_H

#include "spool/web_settings.h"
#include "web/exchange.h"

/* Leave a reply in the exchange, or whom to ask again, and when.  `names` are those of this server. */
void answer_request(struct exchange *exchange, const struct web_names *names);

#endif
