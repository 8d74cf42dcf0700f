/* web/dlworkspace_arguments.h - the parameters of a request to DLWorkspace's REST server
 *
 * They are in the query, as there, or in the body: as a form, or as JSON.  Errors are {"error": ...}.
 */
#ifndef WEB_DLWORKSPACE_ARGUMENTS_H
#define WEB_DLWORKSPACE_ARGUMENTS_H

#include "web/exchange.h"

/* All of them as an object of texts, and of what JSON has.  NULL after a reply when the body cannot be read. */
struct value *dlworkspace_arguments_read(struct exchange *exchange);

/* The text of one that is required.  False after a reply when it is missing. */
bool dlworkspace_arguments_get(struct exchange *exchange, const struct value *arguments,
                               const char *name, struct text *value);

/* userName is required, and must be the user of this page, as the connection says.  False after a reply when not. */
bool dlworkspace_arguments_is_own(struct exchange *exchange, const struct value *arguments);

void dlworkspace_arguments_refuse(struct exchange *exchange, int status, const char *sentence);

#endif
