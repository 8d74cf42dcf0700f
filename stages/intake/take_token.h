/* stages/intake/take_token.h - control files about access tokens (spool/access_token.h): one more, or one less
 *
 * The file with a new token becomes the token: it is moved to tokens/, so that the kernel says whose it is, and not
 * this process.
 */
#ifndef STAGES_INTAKE_TAKE_TOKEN_H
#define STAGES_INTAKE_TAKE_TOKEN_H

#include "request/control.h"
#include "stages/intake/new_job.h"

/* Is the control file about a token? */
bool take_token_is_meant(const struct control *control);
/* Do what it asks for.  0; 1 and a sentence when it is refused; -1 and a sentence when it must be retried. */
int take_token_apply(const struct acceptor *acceptor, const struct acceptance *item,
                     const struct control *control, int64_t now, struct error *error);

#endif
