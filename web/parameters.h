/* web/parameters.h - which parameters a path of the API has in its query
 *
 * One that it does not have is refused, as a misspelt option of a command is: a list without the filter that was meant
 * is not what was asked for.
 */
#ifndef WEB_PARAMETERS_H
#define WEB_PARAMETERS_H

#include "web/exchange.h"

/* Names with a space between; after NAME= stand the values that it may have, with | between.  False after a reply, 400,
 * when the query has another parameter, one of them twice, or another value. */
bool parameters_fit(struct exchange *exchange, const char *known);

#endif
