/* stages/intake/take_token.c - control files about access tokens */
#include "stages/intake/take_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/access_token.h"
#include "stages/users.h"

enum { MOST_TOKENS = 100 };                 /* of one user */
static const int64_t clocks_differ = 60000; /* milliseconds, between hosts */

bool take_token_is_meant(const struct control *control)
{
    return control->verb == CONTROL_TOKEN || control->verb == CONTROL_REVOKE;
}

/* The tokens of a user; those that count no more are removed. */
struct counting {
    int directory;
    uid_t uid;
    int64_t now, longest;
    int count;
};

static int count_token(void *context, const char *name, unsigned char type)
{
    struct counting *counting = context;
    struct access_token token;
    (void)type;
    if (access_token_read(counting->directory, name, &token, NULL))
        return 0;
    if (access_token_end(&token, counting->longest) < counting->now)
        sys.unlinkat(counting->directory, name, 0);
    else
        counting->count += token.uid == counting->uid;
    return 0;
}

/* Is the file nothing but the line, and may it become a token?  1 and a sentence when not. */
static int check_new(const struct acceptor *acceptor, const struct acceptance *item,
                     const struct access_token *token, int64_t now, struct error *error)
{
    int64_t longest = acceptor->stage->settings.web.token_longest;
    char text[CLOCK_TEXT_SIZE];
    if (!text_equal(access_token_line(acceptor->arena, token), buffer_text(&item->bytes)))
        error_set(error,
                  "token: found more than the line alone, expected it as dlspool token writes it");
    else if (item->drop.mode & (S_IWGRP | S_IWOTH))
        error_set(error, "token: others may write to the file; drop it again after chmod 644");
    else if (!longest)
        error_set(error,
                  "token: there are no tokens here (web.token_longest of dlspool.yaml is 0)");
    else if (token->expires < now - clocks_differ)
        error_set(error, "token: it has expired already");
    else if (token->expires > now + longest + clocks_differ)
        error_set(error,
                  "token: it is to count for longer than the site allows, %s (web.token_longest)",
                  duration_format(longest, text));
    else
        return 0;
    return 1;
}

/* Is there a file of that name?  -1 and a sentence when that cannot be determined. */
static int look_at(int directory, const char *name, struct stat *status, struct error *error)
{
    if (!sys.fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW))
        return 1;
    return errno == ENOENT ? 0 : error_errno(error, "a token could not be looked at");
}

/* Move the claim to tokens/.  Only this process puts anything there, so a name that is free stays so. */
static int keep_token(const struct acceptor *acceptor, const struct acceptance *item, int directory,
                      const struct access_token *token, int64_t now, struct error *error)
{
    struct spool *spool = &acceptor->stage->spool;
    struct stat status;
    struct counting counting = {.directory = directory,
                                .uid = item->drop.uid,
                                .now = now,
                                .longest = acceptor->stage->settings.web.token_longest};
    if (directory_walk(directory, count_token, &counting) < 0)
        return error_errno(error, "tokens/ could not be read");
    if (counting.count >= MOST_TOKENS) {
        error_set(error, "token: you have %d already; revoke some (dlspool token --list)",
                  counting.count);
        return 1;
    }
    int there = look_at(directory, token->sha256, &status, error);
    if (there < 0)
        return -1;
    if (there) {
        error_set(error, "token: there is one of this SHA-256 already");
        return 1;
    }
    if (file_rename(spool->claims, item->claim->file, directory, token->sha256))
        return error_errno(error, "a token could not be put into tokens/");
    return sys.fsync(directory) ? error_errno(error, "tokens/ could not be made durable") : 0;
}

static int revoke_token(const struct acceptor *acceptor, uid_t uid, int directory,
                        struct text sha256, struct error *error)
{
    const struct stage *stage = acceptor->stage;
    const char *name = arena_text(acceptor->arena, sha256.data, sha256.length).data;
    struct access_token token;
    struct stat status;
    if (access_token_read(directory, name, &token, error) < 0)
        return -1;
    if (sha256.length != SHA256_HEX_SIZE - 1 || memchr(name, '/', sha256.length))
        return 0; /* there is none */
    int there = look_at(directory, name, &status, error);
    if (there <= 0)
        return there; /* it is gone already, or may be there */
    if (status.st_uid != uid && !settings_is_administrator(&stage->settings, &stage->spool, uid)) {
        error_set(error, "revoke: the token is another user's");
        return 1;
    }
    if (sys.unlinkat(directory, name, 0) && errno != ENOENT)
        return error_errno(error, "a token could not be removed");
    return sys.fsync(directory) ? error_errno(error, "tokens/ could not be made durable") : 0;
}

int take_token_apply(const struct acceptor *acceptor, const struct acceptance *item,
                     const struct control *control, int64_t now, struct error *error)
{
    struct access_token token;
    struct user user;
    int directory = access_token_open_directory(&acceptor->stage->spool);
    int result = 0;
    if (directory < 0)
        return error_errno(error, "tokens/ could not be opened");
    users_find(item->drop.uid, &user);
    if (control->verb == CONTROL_REVOKE)
        result = revoke_token(acceptor, item->drop.uid, directory, control->words, error);
    else if (access_token_parse(control->words, &token, error))
        result = 1;
    else if (!(result = check_new(acceptor, item, &token, now, error)))
        result = keep_token(acceptor, item, directory, &token, now, error);
    sys.close(directory);
    if (!result)
        log_detail("%s has %s a token, %.8s", user.name,
                   control->verb == CONTROL_REVOKE ? "revoked" : "made",
                   control->verb == CONTROL_REVOKE ? control->words.data : token.sha256);
    return result;
}
