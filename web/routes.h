/* web/routes.h - which function answers a request
 *
 * A route is a method and a pattern of a path, in which {} stands for one part that is not empty, and ** at its end
 * for one or more parts.  After a "?" stand the parameters that its query may have, as parameters_fit() takes them;
 * without one the query may have any.
 */
#ifndef WEB_ROUTES_H
#define WEB_ROUTES_H

#include "web/exchange.h"

struct route {
    const char *method, *pattern; /* the method NULL is any; the pattern NULL ends a table */
    web_handler *handler;
};

/* Answer the request by the first route that fits, of `count` tables: 404 when none has its path, 405 and the header
 * Allow when only the method is another.  HEAD is answered as GET. */
void routes_answer(const struct route *const *tables, size_t count, struct exchange *exchange);

#endif
