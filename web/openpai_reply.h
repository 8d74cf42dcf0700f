/* web/openpai_reply.h - replies and errors in the form of OpenPAI's REST server
 *
 * An error is {"code": "NoJobError", "message": "..."}.
 */
#ifndef WEB_OPENPAI_REPLY_H
#define WEB_OPENPAI_REPLY_H

#include "client/view.h"
#include "web/exchange.h"

/* Reply with an error; `code` is the word by which clients know it. */
void openpai_reply_error(struct exchange *exchange, int status, const char *code,
                         const char *message);

/* Reply that something was done, with a sentence. */
void openpai_reply_message(struct exchange *exchange, int status, const char *message);

/* Reply that the user is not this page's: on a socket it is the kernel that says who asks.  True: it is. */
bool openpai_reply_is_own(struct exchange *exchange, struct text user);

/* Find the newest job of that user and name, and read it.  False after a reply when there is none. */
bool openpai_reply_find(struct exchange *exchange, struct text user, struct text name,
                        struct job_view *view);

#endif
