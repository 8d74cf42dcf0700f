/* client/own_tokens.h - the access tokens of a user: made, listed, revoked (spool/access_token.h) */
#ifndef CLIENT_OWN_TOKENS_H
#define CLIENT_OWN_TOKENS_H

#include "base/value.h"
#include "spool/access_token.h"

enum {
    OWN_TOKEN_SIZE = 80,    /* bytes of a token, with the final NUL */
    OWN_TOKENS_SHORTEST = 6 /* digits of the beginning of a SHA-256 that names a token */
};

struct own_tokens {
    struct access_token *items; /* in the arena, the oldest first */
    size_t count;
};

/* Make a secret, and the SHA-256 of it in *token.  -1 and a sentence. */
int own_tokens_make(char secret[static OWN_TOKEN_SIZE], struct access_token *token,
                    struct error *error);
/* Drop the control file that makes it count, for a user, until token->expires.  -1 and a sentence. */
int own_tokens_drop(const struct spool *spool, struct arena *arena,
                    const struct access_token *token, struct error *error);
/* Has intake taken it? */
bool own_tokens_taken(const struct spool *spool, const struct access_token *token);

/* The tokens of a user; a spool whose daemon has made no directory for them has none.  -1 and a sentence. */
int own_tokens_list(const struct spool *spool, struct arena *arena, uid_t uid,
                    struct own_tokens *tokens, struct error *error);
/* As `dlspool token --list --json` has it.  `longest` is web.token_longest. */
struct value *own_tokens_tree(struct arena *arena, const struct access_token *token,
                              int64_t longest);

/* Ask for the token to be revoked whose SHA-256 begins so, or whose name that is; it is the only one of the user's, and
 * *found then.  -1 and a sentence. */
int own_tokens_revoke(const struct spool *spool, struct arena *arena, uid_t uid, struct text word,
                      struct access_token *found, struct error *error);

#endif
