/* spool/access_token.c - tokens/: by which secrets users prove over a network who they are */
#include "spool/access_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/handed_directory.h"

enum { LONGEST_FILE = 256 }; /* bytes */

static const char directory_name[] = "tokens", verb[] = "token: ";
static const char *const scopes[ACCESS_SCOPES] = {"read", "submit", "all"};

const char *access_token_scope_name(enum access_scope scope)
{
    return scopes[scope];
}

int access_token_scope(struct text word)
{
    for (int i = 0; i < ACCESS_SCOPES; i++)
        if (text_is(word, scopes[i]))
            return i;
    return -1;
}

int access_token_parse(struct text words, struct access_token *token, struct error *error)
{
    static const char form[] =
        "expected SHA256 SCOPE EXPIRES NAME: 64 hexadecimal digits, read, submit or all, a time such as "
        "2026-12-31T12:00:00.000Z, and perhaps a name of small letters, digits and hyphens";
    struct text hash = TEXT(""), scope = hash, expires = hash, name = hash, more = words;
    struct error_quote_buffer buffer;
    *token = (struct access_token){.uid = (uid_t)-1};
    bool whole = text_next(&more, ' ', &hash) && text_next(&more, ' ', &scope) &&
                 text_next(&more, ' ', &expires);
    bool named = whole && text_next(&more, ' ', &name);
    int kind = access_token_scope(scope);
    if (!whole || more.length || !sha256_is_hex(hash) || kind < 0 ||
        clock_parse(expires, &token->expires) ||
        (named && !text_is_label(name, ACCESS_TOKEN_NAME_SIZE - 1)))
        return error_set(error, "found \"%s\", %s", error_quote(&buffer, words.data, words.length),
                         form);
    text_copy(token->sha256, sizeof(token->sha256), hash);
    text_copy(token->name, sizeof(token->name), name);
    token->scope = (enum access_scope)kind;
    return 0;
}

struct text access_token_line(struct arena *arena, const struct access_token *token)
{
    char time[CLOCK_TEXT_SIZE];
    return arena_printf(arena, "%s%s %s %s%s%s\n", verb, token->sha256, scopes[token->scope],
                        clock_format(token->expires, time), *token->name ? " " : "", token->name);
}

int access_token_make_directory(const struct spool *spool, uid_t user, gid_t group,
                                struct error *error)
{
    return handed_directory_make(spool, directory_name, user, group, error);
}

int access_token_open_directory(const struct spool *spool)
{
    return handed_directory_open(spool, directory_name);
}

/* The file is a control file as intake takes it: bytes that nobody but its owner can have written. */
static int read_file(int file, const char *sha256, struct access_token *token, struct error *error)
{
    struct buffer bytes = {0};
    struct stat status;
    struct error fault;
    if (sys.fstat(file, &status))
        return error_errno(error, "the token could not be looked at");
    bool plain = S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                 !(status.st_mode & (S_IWGRP | S_IWOTH)) && status.st_size <= LONGEST_FILE;
    int result = plain ? file_read_all(file, LONGEST_FILE, &bytes, "the token", &fault) : 0;
    struct text line = buffer_text(&bytes);
    size_t length = sizeof(verb) - 1;
    bool good = plain && !result && text_starts(line, verb) && text_ends(line, "\n") &&
                !access_token_parse((struct text){line.data + length, line.length - length - 1},
                                    token, NULL) &&
                strcmp(token->sha256, sha256) == 0;
    buffer_free(&bytes);
    if (result)
        return error_set(error, "%s", fault.text);
    if (!good) {
        error_set(error, "the file of this token is not one that counts");
        return 1;
    }
    token->uid = status.st_uid;
    token->changed = (int64_t)status.st_ctim.tv_sec * 1000 + status.st_ctim.tv_nsec / 1000000;
    return 0;
}

int access_token_read(int directory, const char *sha256, struct access_token *token,
                      struct error *error)
{
    int file = sha256_is_hex(text_of(sha256))
                   ? sys.openat(directory, sha256,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0)
                   : -1;
    if (file < 0 && (!sha256_is_hex(text_of(sha256)) || errno == ENOENT || errno == ELOOP)) {
        error_set(error, "nobody has made this token, or it was revoked");
        return 1;
    }
    if (file < 0)
        return error_errno(error, "the token could not be read");
    int result = read_file(file, sha256, token, error);
    sys.close(file);
    return result;
}

int64_t access_token_end(const struct access_token *token, int64_t longest)
{
    return token->expires < token->changed + longest ? token->expires : token->changed + longest;
}
