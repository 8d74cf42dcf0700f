/* web/nodes_table.h - a table of the executor's nodes: which take jobs, and what is in use of each */
#ifndef WEB_NODES_TABLE_H
#define WEB_NODES_TABLE_H

#include "stages/shared/capacity_file.h"
#include "web/exchange.h"

/* With a heading, those first that are not ready; nothing where there are none. */
void nodes_table_add(struct exchange *exchange, struct buffer *out, const struct nodes *nodes);

#endif
