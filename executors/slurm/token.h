/* executors/slurm/token.h - how dlspool identifies itself to slurmrestd
 *
 * slurmrestd knows a caller by a JSON Web Token (RFC 7519) in X-SLURM-USER-TOKEN, beside the name
 * of the user to act for in X-SLURM-USER-NAME; or, without either, by the unix socket.  Tokens come
 * from files: one for all users (SlurmUser's may act for any user), or one for each user.  A file
 * that others may read or write is refused.  A file that was renewed is read again.
 *
 * slurmrestd answers an expired or invalid token in the same way as when slurmctld is down, so the
 * token's own expiry (its claim `exp`) is checked before it is sent.  Its signature cannot be
 * checked: only Slurm has the key.
 */
#ifndef EXECUTORS_SLURM_TOKEN_H
#define EXECUTORS_SLURM_TOKEN_H

#include "executors/slurm/settings.h"

struct slurm_tokens;

/* The settings must outlive it.  Nothing is read yet. */
struct slurm_tokens *slurm_tokens_new(const struct slurm_settings *settings);
void slurm_tokens_free(struct slurm_tokens *tokens); /* NULL is fine; wipes */

/* The headers of a request for `user` (NULL or "": no particular user, as for a list;
 * then the user of the one token or, with a token for each user, slurm.user or dlspool's own user, else
 * any user whose token can be read, has not expired and was not refused last time).  They end with
 * NULL, and are empty where no tokens are set.  Valid
 * until the next call for the same user.  NULL and a sentence when there is no token that is good
 * now. */
const char *const *slurm_tokens_headers(struct slurm_tokens *tokens, const char *user,
                                        struct error *error);

/* Whether each user needs headers of their own even to see their jobs: there is a token for each. */
bool slurm_tokens_differ(const struct slurm_tokens *tokens);

/* The server rejected the token that headers() returned: read the file again next time. */
void slurm_tokens_refused(struct slurm_tokens *tokens, const char *user);

/* What a token says about itself.  -1 when it does not have the form of a token.  `user` is its
 * claim `sun` (or `name`, `username`), "" when it has none; `expires` is milliseconds, 0 when it
 * does not say. */
struct slurm_claims {
    char user[64];
    int64_t expires;
};
int slurm_token_read(struct text token, struct slurm_claims *claims);

#endif
