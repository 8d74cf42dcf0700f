/* web/openpai_door.h - what a door knows of OpenPAI's clients: before they have a token, they ask for one
 *
 * They send a name and a password.  A token of dlspool that is given as the password says whose the connection is, as
 * it does in a header; the page of that user then answers the request, and gives it back as the token.
 */
#ifndef WEB_OPENPAI_DOOR_H
#define WEB_OPENPAI_DOOR_H

#include "web/head.h"

/* Is the request one of theirs, whose errors have a code? */
bool openpai_door_is_asked(const struct head *head);
/* The reply to GET .../v2/info, which they send before they sign in, as JSON; NULL: it is another request. */
const char *openpai_door_info(const struct head *head);
/* Does it sign in?  Then its body has the password. */
bool openpai_door_signs_in(const struct head *head);
/* The token that is given as the password, in a form or in JSON; empty: there is none. */
struct text openpai_door_token(struct text body);

#endif
