/* web/origin.h - refuses requests that a browser sends for a page of somebody else
 *
 * A browser sends what any page that it shows asks for, and its user's connection would vouch for it.  So the name in
 * the header Host must be one that this machine has given its pages (else a name that somebody has made point here
 * could read them: DNS rebinding), and what changes something must come from a page of our own (Fetch Metadata,
 * RFC 6454).
 */
#ifndef WEB_ORIGIN_H
#define WEB_ORIGIN_H

#include "spool/web_settings.h"
#include "web/exchange.h"

/* May the request be answered?  `names` are those of this server beside localhost.  False after a reply that says why
 * not. */
bool origin_allows(struct exchange *exchange, const struct web_names *names);

#endif
