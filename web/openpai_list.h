/* web/openpai_list.h - the jobs that a query of OpenPAI's clients selects, as JSON
 *
 * Fields of the query, as of its REST server: username, vc, state (words with commas between them), keyword, offset,
 * limit (5,000 unless said, at most 50,000), order (FIELD,ASC or FIELD,DESC), withTotalCount=true.
 */
#ifndef WEB_OPENPAI_LIST_H
#define WEB_OPENPAI_LIST_H

#include "web/exchange.h"

/* The reply's text, in the arena; of `user` only, unless that is empty.  HTTP_OK, or another status and a sentence. */
int openpai_list_read(const struct exchange *exchange, struct text user, struct text *json,
                      struct error *error);

#endif
