/* web/scope.h - refuses what the token of a connection is not for */
#ifndef WEB_SCOPE_H
#define WEB_SCOPE_H

#include "web/exchange.h"

/* True when the request is one of its scope (exchange->scope).  False after a reply: 403. */
bool scope_allows(struct exchange *exchange);

#endif
