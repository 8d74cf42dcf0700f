/* web/limits_table.h - a table of what rows of limits.rows limit, and how much of it is used */
#ifndef WEB_LIMITS_TABLE_H
#define WEB_LIMITS_TABLE_H

#include "spool/settings.h"
#include "web/exchange.h"

/* Append a table of the rows that hold for this user and group, and of those of queues; with `all`, of all rows.
 * False and a sentence when what is used cannot be counted. */
bool limits_table_add(struct exchange *exchange, struct buffer *out,
                      const struct settings *settings, bool all, struct error *error);

#endif
