/* web/framing.h - refuses heads of requests that different programs would read differently
 *
 * Where a proxy and this server disagree about where a request ends or whom it is for, a part of one can pass for a
 * request of its own (RFC 9112, section 11.2).  So lengths and hosts are told once, and in one way.
 */
#ifndef WEB_FRAMING_H
#define WEB_FRAMING_H

#include "web/exchange.h"

/* What is wrong with the headers, as a sentence; NULL: nothing. */
const char *framing_fault(const struct exchange *exchange);

#endif
