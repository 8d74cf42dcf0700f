/* executors/slurm/token.c - how dlspool identifies itself to slurmrestd */
#include "executors/slurm/token.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/json.h"
#include "base/names.h"
#include "base/system.h"
#include "executors/base64.h"
#include "executors/secret.h"

enum {
    TOKEN_MOST = 16 << 10, /* bytes: what libmicrohttpd and slurmrestd take as headers */
    NAME_MOST = 64
};

struct holder { /* under the user's name; "": the user of the token */
    char *path;
    struct secret secret;
    struct slurm_claims claims;
    struct buffer name_header, token_header;
    const char *headers[3];
    bool refused; /* the server refused it; until it is renewed */
};

struct slurm_tokens {
    const struct slurm_settings *settings;
    struct names *holders; /* struct holder */
    char *self;            /* whose token asks what is asked for nobody in particular, where there
                             is one for each user */
    struct holder *asker;  /* whose did so last; NULL: nobody's yet */
    const char *none[1];
};

/* ---- reading a token ---- */

static void read_claims(const struct value *payload, struct slurm_claims *claims)
{
    static const char *const names[] = {"sun", "name", "username"};
    double expires = value_get_number(payload, "exp", 0);
    if (expires > 0 && expires < 253402300800.0)
        claims->expires = (int64_t)expires * 1000;
    for (size_t i = 0; i < ARRAY_COUNT(names) && !claims->user[0]; i++) {
        struct text user = value_get_text(payload, names[i]);
        if (user.length && user.length < sizeof(claims->user) && !memchr(user.data, 0, user.length))
            snprintf(claims->user, sizeof(claims->user), "%s", user.data);
    }
}

int slurm_token_read(struct text token, struct slurm_claims *claims)
{
    struct text rest = token, header, payload, signature;
    *claims = (struct slurm_claims){0};
    if (token.length > TOKEN_MOST || !text_next(&rest, '.', &header) ||
        !text_next(&rest, '.', &payload) || !text_next(&rest, '.', &signature) || rest.length)
        return -1;
    struct arena *arena = arena_new();
    struct buffer bytes = {0}, ignored = {0};
    const struct value *tree = NULL;
    if (!base64_decode(&ignored, header, true) && !base64_decode(&ignored, signature, true) &&
        !base64_decode(&bytes, payload, true))
        tree = json_read(arena, buffer_text(&bytes), "token", &yaml_request_limits, NULL);
    int result = tree && tree->kind == VALUE_OBJECT ? 0 : -1;
    if (result == 0)
        read_claims(tree, claims);
    buffer_free(&ignored);
    buffer_free(&bytes);
    arena_free(arena);
    return result;
}

/* ---- whose tokens there are ---- */

struct slurm_tokens *slurm_tokens_new(const struct slurm_settings *settings)
{
    struct slurm_tokens *tokens = memory_allocate(sizeof(*tokens));
    const struct passwd *entry = settings->user.length ? NULL : getpwuid(geteuid());
    tokens->settings = settings;
    tokens->holders = names_new(SIZE_MAX, sizeof(struct holder));
    tokens->self = memory_copy_string(entry ? entry->pw_name : settings->user.data);
    return tokens;
}

void slurm_tokens_free(struct slurm_tokens *tokens)
{
    if (!tokens)
        return;
    for (struct holder *holder = names_first(tokens->holders); holder;
         holder = names_after(holder)) {
        secret_wipe(&holder->secret.bytes);
        secret_wipe(&holder->token_header);
        buffer_free(&holder->name_header);
        free(holder->path);
    }
    names_free(tokens->holders);
    free(tokens->self);
    free(tokens);
}

bool slurm_tokens_differ(const struct slurm_tokens *tokens)
{
    return tokens->settings->token_directory.length > 0;
}

/* Can it be the name of a file in the directory, and the value of a header? */
static bool is_user_name(const char *user)
{
    size_t length = strlen(user);
    for (size_t i = 0; i < length; i++) {
        char c = user[i];
        if (c <= ' ' || c == 0x7f || c == '/' || c == ':')
            return false;
    }
    return length > 0 && length <= NAME_MOST && user[0] != '.' && user[0] != '-';
}

static const char *user_of(const struct holder *holder)
{
    return names_text(holder).data;
}

static struct holder *find_holder(struct slurm_tokens *tokens, const char *user)
{
    const struct slurm_settings *settings = tokens->settings;
    struct holder *holder = names_find(tokens->holders, text_of(user));
    if (holder)
        return holder;
    holder = names_add(tokens->holders, text_of(user));
    struct buffer path = {0};
    if (slurm_tokens_differ(tokens))
        buffer_printf(&path, "%s/%s", settings->token_directory.data, user);
    else
        buffer_add_text(&path, settings->token_file);
    holder->path = path.data;
    holder->secret.path = holder->path;
    return holder;
}

static int check_token(struct text bytes, const struct stat *status, const char *path,
                       struct error *error)
{
    struct slurm_claims claims;
    if (status->st_mode & (S_IROTH | S_IWOTH))
        return error_set(error,
                         "%s has mode %04o, so that everybody may %s the token in it: "
                         "expected 0600 (chmod 600 %s)",
                         path, (unsigned int)status->st_mode & 07777,
                         status->st_mode & S_IROTH ? "read" : "replace", path);
    /* What `scontrol token` prints is taken as it is: SLURM_JWT=... */
    static const char prefix[] = "SLURM_JWT=";
    if (text_starts(bytes, prefix))
        bytes = (struct text){bytes.data + strlen(prefix), bytes.length - strlen(prefix)};
    if (slurm_token_read(bytes, &claims))
        return error_set(error,
                         "%s holds something else than a JSON Web Token, such as `scontrol "
                         "token` prints",
                         path);
    return 0;
}

static struct text token_of(const struct holder *holder)
{
    struct text bytes = buffer_text(&holder->secret.bytes);
    const size_t prefix = strlen("SLURM_JWT=");
    return text_starts(bytes, "SLURM_JWT=")
               ? (struct text){bytes.data + prefix, bytes.length - prefix}
               : bytes;
}

static int check_expiry(const struct holder *holder, struct error *error)
{
    char time[CLOCK_TEXT_SIZE], now[CLOCK_TEXT_SIZE];
    if (!holder->claims.expires || clock_now() < holder->claims.expires)
        return 0;
    return error_set(error,
                     "the token in %s expired at %s, and now it is %s: put a new one there "
                     "(scontrol token username=%s lifespan=SECONDS)",
                     holder->path, clock_format(holder->claims.expires, time),
                     clock_format(clock_now(), now),
                     holder->claims.user[0] ? holder->claims.user : "USER");
}

static int read_file(struct holder *holder, struct error *error)
{
    int result = secret_refresh(&holder->secret, check_token, error);
    if (result < 0)
        return error_prefix(error, "there is no token for slurmrestd");
    if (!result && holder->token_header.length)
        return 0;
    secret_wipe(&holder->token_header);
    holder->refused = false;
    struct text token = token_of(holder);
    buffer_reserve(&holder->token_header, token.length + sizeof("X-SLURM-USER-TOKEN: "));
    buffer_add_string(&holder->token_header, "X-SLURM-USER-TOKEN: ");
    buffer_add_text(&holder->token_header, token);
    slurm_token_read(token, &holder->claims);
    return 0;
}

/* The old token is used while the file cannot be read, but not after it has expired. */
static int refresh_token(struct holder *holder, struct error *error)
{
    if (read_file(holder, error))
        return -1;
    if (check_expiry(holder, error) == 0)
        return 0;
    secret_wipe(&holder->secret.bytes);
    secret_is_stale(&holder->secret);
    return read_file(holder, error) ? -1 : check_expiry(holder, error);
}

/* ---- whose token makes requests for nobody in particular ---- */

struct user_names {
    struct arena *arena;
    const char **items;
    size_t count;
};

static int visit_token(void *context, const char *name, unsigned char type)
{
    struct user_names *names = context;
    (void)type;
    if (!is_user_name(name))
        return 0;
    names->items = memory_resize(names->items, (names->count + 1) * sizeof(*names->items));
    names->items[names->count++] = arena_string(names->arena, name);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct user_names read_names(struct arena *arena, const char *path)
{
    struct user_names names = {.arena = arena};
    int directory = sys.openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return names;
    directory_walk(directory, visit_token, &names);
    sys.close(directory);
    if (names.count)
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
    return names;
}

/* The user's holder if their token is valid and the server has not refused it.  The first one that it
 * has refused becomes *refused. */
static struct holder *try_user(struct slurm_tokens *tokens, const char *user,
                               struct holder **refused, struct error *error)
{
    struct holder *holder = is_user_name(user) ? find_holder(tokens, user) : NULL;
    if (!holder || refresh_token(holder, error))
        return NULL;
    if (!holder->refused)
        return holder;
    if (!*refused)
        *refused = holder;
    return NULL;
}

/* Choose dlspool's own user, else the last asker, else the first user with a valid token.  A token that
 * the server has refused is the last choice: the cause may also be that slurmctld was down.  NULL and a
 * sentence when there is no valid token. */
static struct holder *choose_asker(struct slurm_tokens *tokens, struct error *error)
{
    struct holder *refused = NULL;
    struct holder *chosen = try_user(tokens, tokens->self, &refused, error);
    if (!chosen && tokens->asker)
        chosen = try_user(tokens, user_of(tokens->asker), &refused, error);
    if (!chosen) {
        struct arena *arena = arena_new();
        struct user_names names = read_names(arena, tokens->settings->token_directory.data);
        for (size_t i = 0; i < names.count && !chosen; i++)
            chosen = try_user(tokens, names.items[i], &refused, error);
        free(names.items);
        arena_free(arena);
    }
    if (!chosen) {
        for (struct holder *holder = names_first(tokens->holders); holder;
             holder = names_after(holder))
            holder->refused = false;
        chosen = refused;
    }
    tokens->asker = chosen ? chosen : tokens->asker;
    return chosen;
}

/* ---- headers ---- */

const char *const *slurm_tokens_headers(struct slurm_tokens *tokens, const char *user,
                                        struct error *error)
{
    const struct slurm_settings *settings = tokens->settings;
    struct error_quote_buffer buffer;
    if (!settings->token_file.length && !settings->token_directory.length)
        return tokens->none;
    user = user ? user : "";
    if (!*user && slurm_tokens_differ(tokens)) {
        const struct holder *asker = choose_asker(tokens, error);
        if (!asker)
            return NULL;
        user = user_of(asker);
    }
    if (*user && !is_user_name(user)) {
        error_set(error, "found \"%s\", expected the name of a user who may have a token",
                  error_quote(&buffer, user, strlen(user)));
        return NULL;
    }
    struct holder *holder = find_holder(tokens, user);
    if (refresh_token(holder, error))
        return NULL;
    if (!*user)
        user = holder->claims.user;
    if (!is_user_name(user)) {
        error_set(error,
                  "the token in %s does not say whose it is (claim \"sun\"), so that nothing "
                  "can be asked in nobody's name in particular; expected one as `scontrol "
                  "token` makes it",
                  holder->path);
        return NULL;
    }
    buffer_clear(&holder->name_header);
    buffer_printf(&holder->name_header, "X-SLURM-USER-NAME: %s", user);
    holder->headers[0] = holder->name_header.data;
    holder->headers[1] = holder->token_header.data;
    return holder->headers;
}

void slurm_tokens_refused(struct slurm_tokens *tokens, const char *user)
{
    if (slurm_tokens_differ(tokens) && (!user || !*user) && tokens->asker)
        tokens->asker->refused = true;
    for (struct holder *holder = names_first(tokens->holders); holder; holder = names_after(holder))
        if (!slurm_tokens_differ(tokens) || !user || !*user || strcmp(user_of(holder), user) == 0)
            secret_is_stale(&holder->secret);
}
