/* executors/slurm/token.h - who we are to slurmrestd
 *
 * slurmrestd knows a caller by a JSON Web Token (RFC 7519) in X-SLURM-USER-TOKEN, beside the name
 * of the user to act for in X-SLURM-USER-NAME; or, without either, by the unix socket.  Tokens come
 * from files: one for all users (SlurmUser's may act for any), or one for each user.  A file that
 * others may read or write is refused.  One that was renewed is read again.
 *
 * slurmrestd answers a token that has expired or is false as it answers when slurmctld is down, so
 * what the token itself says of its end (its claim `exp`) is looked at before it is sent.  Its
 * signature cannot be: its key is Slurm's.
 */
#ifndef EXECUTORS_SLURM_TOKEN_H
#define EXECUTORS_SLURM_TOKEN_H

#include "executors/slurm/settings.h"

struct slurm_tokens;

/* The settings must outlive it.  Nothing is read yet. */
struct slurm_tokens *slurm_tokens_new(const struct slurm_settings *settings);
void slurm_tokens_free(struct slurm_tokens *tokens); /* NULL is fine; wipes */

/* The headers of a request for `user` (NULL or "": nobody's in particular, such as a list; then
 * whom the one token is of, or, with one for each, slurm.user or whom dlspool runs as, or else
 * somebody whose token can be read, has not expired, and was not refused when it was tried last),
 * which end with NULL; there are none where no tokens are set.  Valid
 * until the next call for the same user.  NULL and a sentence when there is no token that is good
 * now. */
const char *const *slurm_tokens_headers(struct slurm_tokens *tokens, const char *user,
                                        struct error *error);

/* Whether each user needs headers of their own even to see their jobs: there is a token for each. */
bool slurm_tokens_differ(const struct slurm_tokens *tokens);

/* The server did not accept what headers() gave: read the file again the next time. */
void slurm_tokens_refused(struct slurm_tokens *tokens, const char *user);

/* What a token says of itself.  -1 when it is not of a token's form.  `user` is its claim `sun` (or
 * `name`, `username`), "" when it has none; `expires` is milliseconds, 0 when it does not say. */
struct slurm_claims {
    char user[64];
    int64_t expires;
};
int slurm_token_read(struct text token, struct slurm_claims *claims);

#endif
