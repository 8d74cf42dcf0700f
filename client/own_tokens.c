/* client/own_tokens.c - the access tokens of a user */
#include "client/own_tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/directory.h"
#include "client/drop_file.h"

enum { SECRET_BYTES = 32 };
/* Programs that look for secrets in files know a token by its beginning. */
static const char beginning[] = "dlspool_";

int own_tokens_make(char secret[static OWN_TOKEN_SIZE], struct access_token *token,
                    struct error *error)
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_errno(error, "no secret could be made");
    int length = snprintf(secret, OWN_TOKEN_SIZE, "%s", beginning);
    for (size_t i = 0; i < sizeof(bytes); i++)
        length += snprintf(secret + length, OWN_TOKEN_SIZE - (size_t)length, "%02x", bytes[i]);
    sha256_hex(text_of(secret), token->sha256);
    return 0;
}

int own_tokens_drop(const struct spool *spool, struct arena *arena,
                    const struct access_token *token, struct error *error)
{
    char name[NAME_MAX + 1];
    return drop_file(spool, "token", ".yaml", access_token_line(arena, token), name, error);
}

bool own_tokens_taken(const struct spool *spool, const struct access_token *token)
{
    struct stat status;
    int directory = access_token_open_directory(spool);
    bool taken =
        directory >= 0 && sys.fstatat(directory, token->sha256, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (directory >= 0)
        sys.close(directory);
    return taken;
}

struct collecting {
    struct arena *arena;
    int directory;
    uid_t uid;
    struct own_tokens *tokens;
    size_t capacity;
};

static int collect_token(void *context, const char *name, unsigned char type)
{
    struct collecting *collecting = context;
    struct own_tokens *tokens = collecting->tokens;
    struct access_token token;
    (void)type;
    if (access_token_read(collecting->directory, name, &token, NULL) ||
        token.uid != collecting->uid)
        return 0;
    tokens->items = arena_grow(collecting->arena, tokens->items, tokens->count,
                               &collecting->capacity, sizeof(*tokens->items));
    tokens->items[tokens->count++] = token;
    return 0;
}

static int compare_age(const void *a, const void *b)
{
    const struct access_token *first = a, *second = b;
    return first->changed != second->changed ? (first->changed < second->changed ? -1 : 1)
                                             : strcmp(first->sha256, second->sha256);
}

int own_tokens_list(const struct spool *spool, struct arena *arena, uid_t uid,
                    struct own_tokens *tokens, struct error *error)
{
    struct collecting collecting = {.arena = arena, .uid = uid, .tokens = tokens};
    *tokens = (struct own_tokens){.count = 0};
    collecting.directory = access_token_open_directory(spool);
    if (collecting.directory < 0 && errno == ENOENT)
        return 0;
    int result = collecting.directory < 0
                     ? -1
                     : directory_walk(collecting.directory, collect_token, &collecting);
    if (result < 0)
        error_errno(error, "tokens/ could not be read");
    if (collecting.directory >= 0)
        sys.close(collecting.directory);
    if (tokens->count)
        qsort(tokens->items, tokens->count, sizeof(*tokens->items), compare_age);
    return result;
}

struct value *own_tokens_tree(struct arena *arena, const struct access_token *token,
                              int64_t longest)
{
    char text[CLOCK_TEXT_SIZE];
    int64_t end = access_token_end(token, longest);
    struct value *tree = value_object(arena);
    value_put(arena, tree, "sha256", value_string(arena, token->sha256));
    value_put(arena, tree, "name",
              *token->name ? value_string(arena, token->name) : value_null(arena));
    value_put(arena, tree, "scope", value_string(arena, access_token_scope_name(token->scope)));
    value_put(arena, tree, "made", value_string(arena, clock_format(token->changed, text)));
    value_put(arena, tree, "expires", value_string(arena, clock_format(end, text)));
    value_put(arena, tree, "expired", value_boolean(arena, end < clock_now()));
    return tree;
}

/* Of the user's tokens the one that the word names.  -1 and a sentence. */
static int find_token(const struct own_tokens *tokens, struct text word, struct access_token *found,
                      struct error *error)
{
    struct error_quote_buffer buffer;
    size_t count = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct access_token *token = &tokens->items[i];
        if (!text_is(word, token->name) &&
            (word.length < OWN_TOKENS_SHORTEST || word.length > strlen(token->sha256) ||
             strncmp(token->sha256, word.data, word.length) != 0))
            continue;
        *found = *token;
        count++;
    }
    if (count == 1)
        return 0;
    return error_set(
        error,
        count ? "%s: %d of your tokens are called so; say more of its SHA-256"
              : "%s: you have no such token; expected its name, or the first %d digits "
                "or more of its SHA-256 (dlspool token --list)",
        error_quote(&buffer, word.data, word.length), count ? (int)count : OWN_TOKENS_SHORTEST);
}

int own_tokens_revoke(const struct spool *spool, struct arena *arena, uid_t uid, struct text word,
                      struct access_token *found, struct error *error)
{
    char name[NAME_MAX + 1];
    struct own_tokens tokens;
    if (own_tokens_list(spool, arena, uid, &tokens, error) ||
        find_token(&tokens, word, found, error))
        return -1;
    return drop_file(spool, "revoke", ".yaml", arena_printf(arena, "revoke: %s\n", found->sha256),
                     name, error);
}
