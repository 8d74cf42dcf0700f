/* web/validator.h - ETag and If-None-Match: what a client has already is not sent again (RFC 9110)
 *
 * The validator of a reply is made of its bytes, so it is worked out all the same; what is saved is the way.
 */
#ifndef WEB_VALIDATOR_H
#define WEB_VALIDATOR_H

#include "web/exchange.h"

/* Of a reply to GET or HEAD that is in memory: name its validator, and make it 304 where the client has that. */
void validator_apply(struct exchange *exchange);

#endif
