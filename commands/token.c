/* commands/token.c - dlspool token: makes, lists and revokes the access tokens of the caller
 *
 * A new one is printed and kept nowhere; the control file that is dropped has its SHA-256.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "client/own_tokens.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"

static const int64_t usual_life = 43200000; /* milliseconds: 12 h */
static const int64_t patience = 5000;       /* ... until intake has taken it */
static const struct timespec look_interval = {.tv_nsec = 20000000};

struct wish {
    int64_t life; /* milliseconds; 0: as usual */
    const char *scope, *name, *revoke;
    bool list, json;
    struct spool spool;
    struct settings settings;
    struct arena *arena;
};

/* What is wished for as a token without a secret yet.  -1 and a sentence. */
static int read_wish(const struct wish *wish, struct access_token *token, struct error *error)
{
    int64_t longest = wish->settings.web.token_longest;
    int64_t life = wish->life ? wish->life : usual_life < longest ? usual_life : longest;
    int scope = access_token_scope(text_of(wish->scope));
    char text[CLOCK_TEXT_SIZE];
    *token = (struct access_token){.expires = clock_now() + life};
    if (!longest)
        return error_set(error,
                         "there are no tokens here (web.token_longest of dlspool.yaml is 0)");
    if (life > longest)
        return error_set(error, "--for: tokens count for %s at most here (web.token_longest)",
                         duration_format(longest, text));
    if (scope < 0)
        return error_set(error, "--scope: found \"%s\", expected read, submit or all", wish->scope);
    if (*wish->name && !text_is_label(text_of(wish->name), ACCESS_TOKEN_NAME_SIZE - 1))
        return error_set(error,
                         "--name: found \"%s\", expected at most %d small letters, digits and "
                         "hyphens",
                         wish->name, ACCESS_TOKEN_NAME_SIZE - 1);
    if (getuid() < (uid_t)wish->settings.web.least_uid)
        remark("users below %d, as you are, have no page (web.least_uid)",
               wish->settings.web.least_uid);
    token->scope = (enum access_scope)scope;
    snprintf(token->name, sizeof(token->name), "%s", wish->name);
    return 0;
}

static bool wait_until_taken(const struct wish *wish, const struct access_token *token)
{
    int64_t until = clock_elapsed() + patience;
    while (!own_tokens_taken(&wish->spool, token)) {
        if (clock_elapsed() >= until)
            return false;
        nanosleep(&look_interval, NULL);
    }
    return true;
}

/* Make a token, drop its control file and print it. */
static int make_token(const struct wish *wish)
{
    struct access_token token;
    struct error error;
    char secret[OWN_TOKEN_SIZE], text[CLOCK_TEXT_SIZE];
    if (read_wish(wish, &token, &error) || own_tokens_make(secret, &token, &error) ||
        own_tokens_drop(&wish->spool, wish->arena, &token, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    bool taken = wait_until_taken(wish, &token);
    if (wish->json) {
        struct value *tree = value_object(wish->arena);
        value_put(wish->arena, tree, "token", value_string(wish->arena, secret));
        value_put(wish->arena, tree, "sha256", value_string(wish->arena, token.sha256));
        value_put(wish->arena, tree, "scope", value_string(wish->arena, wish->scope));
        value_put(wish->arena, tree, "expires",
                  value_string(wish->arena, clock_format(token.expires, text)));
        value_put(wish->arena, tree, "taken", value_boolean(wish->arena, taken));
        print_json(tree);
    } else {
        puts(secret);
        fflush(stdout);
        remark("it counts until %s for %s; keep it, as it is shown only once",
               clock_local(token.expires, text),
               token.scope == ACCESS_READ     ? "reading"
               : token.scope == ACCESS_SUBMIT ? "reading and submitting"
                                              : "all that you may do");
    }
    if (!taken)
        remark("nobody has taken it within %d s; it counts once that has happened (dlspool status)",
               (int)(patience / 1000));
    return STATUS_DONE;
}

static void print_tokens(const struct own_tokens *tokens, int64_t longest)
{
    char made[CLOCK_TEXT_SIZE], end[CLOCK_TEXT_SIZE];
    if (tokens->count)
        printf("%-8s  %-6s  %-19s  %-19s  %s\n", "SHA-256", "SCOPE", "MADE", "EXPIRES", "NAME");
    for (size_t i = 0; i < tokens->count; i++) {
        const struct access_token *token = &tokens->items[i];
        printf("%.8s  %-6s  %-19s  %-19s  %s\n", token->sha256,
               access_token_scope_name(token->scope), clock_local(token->changed, made),
               clock_local(access_token_end(token, longest), end), token->name);
    }
}

static int list_tokens(const struct wish *wish)
{
    struct own_tokens tokens;
    struct error error;
    int64_t longest = wish->settings.web.token_longest;
    if (own_tokens_list(&wish->spool, wish->arena, getuid(), &tokens, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    if (!wish->json) {
        print_tokens(&tokens, longest);
        return STATUS_DONE;
    }
    struct value *trees = value_list(wish->arena);
    for (size_t i = 0; i < tokens.count; i++)
        value_append(wish->arena, trees, own_tokens_tree(wish->arena, &tokens.items[i], longest));
    print_json(trees);
    return STATUS_DONE;
}

static int revoke_token(const struct wish *wish)
{
    struct access_token token;
    struct error error;
    if (own_tokens_revoke(&wish->spool, wish->arena, getuid(), text_of(wish->revoke), &token,
                          &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    if (wish->json) {
        struct value *tree = value_object(wish->arena);
        value_put(wish->arena, tree, "sha256", value_string(wish->arena, token.sha256));
        value_put(wish->arena, tree, "asked", value_string(wish->arena, "revoke"));
        print_json(tree);
    } else {
        printf("asked to revoke %.8s\n", token.sha256);
    }
    return STATUS_DONE;
}

int command_token(int argument_count, char **arguments)
{
    struct wish wish = {.scope = "all", .name = ""};
    const struct option_spec options[] = {
        {"for", 0, OPTION_DURATION, &wish.life, "TIME", "how long it counts; default 12h"},
        {"scope", 0, OPTION_TEXT, &wish.scope, "WORD",
         "what it is for: read, submit (and read) or all; default all"},
        {"name", 0, OPTION_TEXT, &wish.name, "NAME", "what --list calls it"},
        {"list", 0, OPTION_FLAG, &wish.list, NULL, "list your tokens instead"},
        {"revoke", 0, OPTION_TEXT, &wish.revoke, "TOKEN",
         "ask for one to count no more: its name, or 6 digits or more of its SHA-256"},
        {"json", 'j', OPTION_FLAG, &wish.json, NULL, "as JSON"},
        {0}};
    const struct verb_usage usage = {
        "token",
        "",
        0,
        0,
        "Make a token, by which a program is you to `dlspool web` where the kernel cannot say so.",
        "It is printed, and kept nowhere.  The same as dropping a file that says\n"
        "`token: SHA256 SCOPE EXPIRES NAME` into incoming/, with the SHA-256 of a secret of your own.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (wish.list && wish.revoke) {
        complain("found --list and --revoke, expected one of them");
        return STATUS_USAGE;
    }
    if (open_spool_and_settings(&wish.spool, &wish.settings))
        return STATUS_FAILED;
    wish.arena = arena_new();
    status = wish.list ? list_tokens(&wish) : wish.revoke ? revoke_token(&wish) : make_token(&wish);
    arena_free(wish.arena);
    settings_free(&wish.settings);
    spool_close(&wish.spool);
    return status;
}
