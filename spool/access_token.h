/* spool/access_token.h - tokens/: by which secrets users prove over a network who they are
 *
 * A user makes a secret and drops a control file with its SHA-256, `token: SHA256 SCOPE EXPIRES NAME`.  Intake moves
 * that file to tokens/SHA256.  Whoever has the secret is the user to whom the file belongs: that says the kernel, and
 * nobody who can write to tokens/ can change it.  The secret is kept nowhere.
 *
 * The file stays its owner's, who can still write to it where it was open, and can so change the scope of a token of
 * their own or the time until which it counts.  Neither counts longer than the site lets tokens live, since the file
 * was last changed.
 */
#ifndef SPOOL_ACCESS_TOKEN_H
#define SPOOL_ACCESS_TOKEN_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"
#include "spool/spool.h"

enum access_scope {
    ACCESS_READ,   /* to see what the user can see */
    ACCESS_SUBMIT, /* and to submit jobs */
    ACCESS_ALL,    /* and to ask for anything else: to kill, hold, approve */
    ACCESS_SCOPES
};

enum { ACCESS_TOKEN_NAME_SIZE = 33 }; /* bytes, with the final NUL */

struct access_token {
    char sha256[SHA256_HEX_SIZE];
    enum access_scope scope;
    int64_t expires;                   /* time of day */
    char name[ACCESS_TOKEN_NAME_SIZE]; /* what its owner calls it; "": nothing */
    uid_t uid;                         /* the owner of its file */
    int64_t changed;                   /* the time of day when that was last changed */
};

/* "read", "submit" or "all"; of a word the scope, or -1. */
const char *access_token_scope_name(enum access_scope scope);
int access_token_scope(struct text word);

/* Read `SHA256 SCOPE EXPIRES`, and a NAME if there is one, with a single space between.  -1 and a sentence. */
int access_token_parse(struct text words, struct access_token *token, struct error *error);
/* The control file that drops it. */
struct text access_token_line(struct arena *arena, const struct access_token *token);

/* The directory, made at the start of the daemon, for who reads job files; -1: they are the daemon's own. */
int access_token_make_directory(const struct spool *spool, uid_t user, gid_t group,
                                struct error *error);
/* -1 with errno. */
int access_token_open_directory(const struct spool *spool);

/* Read the token of that hash.  1 and a sentence when there is none that counts: an unknown one, or a file that is not
 * as intake takes it. -1 and a sentence when that cannot be determined. */
int access_token_read(int directory, const char *sha256, struct access_token *token,
                      struct error *error);
/* Until when it counts, where tokens live that long at most; milliseconds. */
int64_t access_token_end(const struct access_token *token, int64_t longest);

#endif
