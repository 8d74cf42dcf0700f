/* web/tokens_api.c - /dlspool/v1/tokens: one's own access tokens */
#include "web/tokens_api.h"

#include <unistd.h>

#include "client/own_tokens.h"
#include "spool/settings.h"

static void list_tokens(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct own_tokens tokens;
    struct settings settings;
    struct error error;
    struct value *trees = value_list(arena);
    if (settings_read(&settings, exchange->spool, &error)) {
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    int64_t longest = settings.web.token_longest;
    settings_free(&settings);
    if (own_tokens_list(exchange->spool, arena, getuid(), &tokens, &error)) {
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    for (size_t i = 0; i < tokens.count; i++)
        value_append(arena, trees, own_tokens_tree(arena, &tokens.items[i], longest));
    exchange_reply_json(exchange, HTTP_OK, trees);
}

static void revoke_token(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct access_token token;
    struct error error;
    if (own_tokens_revoke(exchange->spool, arena, getuid(), exchange->parts[0], &token, &error)) {
        exchange_reply_problem(exchange, HTTP_NOT_FOUND, error.text);
        return;
    }
    struct value *tree = value_object(arena);
    value_put(arena, tree, "sha256", value_string(arena, token.sha256));
    value_put(arena, tree, "asked", value_string(arena, "revoke"));
    exchange_reply_json(exchange, HTTP_ACCEPTED, tree);
}

const struct route tokens_api_routes[] = {{"GET", "/dlspool/v1/tokens?", list_tokens},
                                          {"POST", "/dlspool/v1/tokens/{}/revoke?", revoke_token},
                                          {.pattern = NULL}};
