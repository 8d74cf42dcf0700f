/* executors/kubernetes/kubeconfig.c - the API server's address, and the identity to use there
 *
 * Fields that are not known are left alone, as kubectl does: they may be none of our business.
 *
 * Known weakness: libyaml and the allocator may keep pieces of what was read; wiped is what we hold
 * ourselves.  credential.c makes the process one whose memory others cannot read.
 */
#include "executors/kubernetes/kubeconfig.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/yaml.h"
#include "executors/kubernetes/kubeconfig_fields.h"
#include "executors/secret.h"

enum {
    FILE_LIMIT = 4 << 20, /* bytes of a kubeconfig, a certificate or a token */
    NAMES_SHOWN = 8       /* contexts that a sentence lists */
};

/* ---- files ---- */

/* Secrets' owner should be the only one who can read them, or a group that the owner chose. */
static bool others_may_read(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mode & S_IROTH);
}

/* ---- entries ---- */

/* Find `name` in the lists `list` of all files; the entry's own part is its member `kind`. */
static int find_entry(const struct config_reader *reader, const char *list, const char *kind,
                      struct text name, struct config_entry *entry)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct value *items = value_get(reader->files[i].tree, list);
        for (size_t j = 0; j < value_length(items); j++) {
            const struct value *item = items->list.items[j], *own = value_get(item, kind);
            if (!text_equal(value_get_text(item, "name"), name))
                continue;
            *entry = (struct config_entry){reader, &reader->files[i], kind, name, own ? own : item};
            if (!own || own->kind == VALUE_OBJECT)
                return 0;
            return kubeconfig_fields_refuse(entry, own, kind, "expected an object");
        }
    }
    return 1;
}

static int no_such_context(const struct config_reader *reader, struct text name)
{
    const char *names[NAMES_SHOWN + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < reader->count; i++) {
        const struct value *items = value_get(reader->files[i].tree, "contexts");
        for (size_t j = 0; j < value_length(items); j++) {
            struct text found = value_get_text(items->list.items[j], "name");
            if (found.data && count < NAMES_SHOWN)
                names[count++] = found.data;
        }
    }
    struct buffer list = {0};
    struct error_quote_buffer quote;
    for (size_t i = 0; i < count; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "",
                      error_quote(&quote, names[i], strlen(names[i])));
    error_set(reader->error, "%s: there is no context \"%s\" (there are: %s)",
              reader->files[0].path, error_quote(&quote, name.data, name.length),
              count ? list.data : "none");
    buffer_free(&list);
    return -1;
}

/* The entry that the context names as its cluster or user. */
static int find_named_entry(const struct config_entry *context, const char *kind, const char *list,
                            struct config_entry *entry)
{
    const char *name;
    struct error_quote_buffer quote;
    char words[sizeof(quote) + 32];
    if (kubeconfig_fields_string(context, context->object, kind, &name))
        return -1;
    if (!*name)
        return kubeconfig_fields_refuse(context, NULL, kind, "is missing");
    int result = find_entry(context->reader, list, kind, text_of(name), entry);
    if (result <= 0)
        return result;
    snprintf(words, sizeof(words), "there is no \"%s\" in %s",
             error_quote(&quote, name, strlen(name)), list);
    return kubeconfig_fields_refuse(context, value_get(context->object, kind), kind, words);
}

/* ---- the cluster ---- */

static int read_cluster(const struct config_entry *cluster, struct kubeconfig *config)
{
    const char *server;
    bool insecure;
    if (kubeconfig_fields_string(cluster, cluster->object, "server", &server) ||
        kubeconfig_fields_string(cluster, cluster->object, "tls-server-name", &config->tls_name) ||
        kubeconfig_fields_string(cluster, cluster->object, "proxy-url", &config->proxy) ||
        kubeconfig_fields_boolean(cluster, cluster->object, "insecure-skip-tls-verify", &insecure))
        return -1;
    const struct value *where = value_get(cluster->object, "server");
    if (insecure)
        return kubeconfig_fields_refuse(
            cluster, value_get(cluster->object, "insecure-skip-tls-verify"),
            "insecure-skip-tls-verify",
            "dlspool does not talk to a server whose certificate it may not verify; name "
            "the cluster's own authority in certificate-authority instead");
    if (!*server)
        return kubeconfig_fields_refuse(cluster, NULL, "server", "is missing");
    if (strncmp(server, "https://", 8) != 0 || server[8] == '\0' || strpbrk(server, " ?#@\"\\"))
        return kubeconfig_fields_refuse(cluster, where, "server", "expected https://HOST:PORT");
    struct text trimmed = text_of(server);
    while (text_ends(trimmed, "/"))
        trimmed.length--;
    config->server = arena_text(cluster->reader->arena, trimmed.data, trimmed.length).data;
    return kubeconfig_fields_pem(cluster, "certificate-authority", "CERTIFICATE", &config->ca);
}

/* ---- all of it ---- */

static struct text current_context(const struct config_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        struct text name = value_get_text(reader->files[i].tree, "current-context");
        if (name.length)
            return name;
    }
    return TEXT("");
}

/* Read the context of that name, or the current one, with its cluster and its user.  NULL and a
 * sentence when one of them is missing or damaged.  A file with secrets that others may read is
 * noted for a warning. */
static struct kubeconfig *read_files(const struct config_reader *reader, const char *context_name)
{
    struct kubeconfig *config = arena_allocate(reader->arena, sizeof(*config));
    struct config_entry context, cluster, user;
    struct text name = *context_name ? text_of(context_name) : current_context(reader);
    if (name.length == 0) {
        error_set(reader->error,
                  "%s: there is no current-context; name one of its contexts in dlspool.yaml "
                  "(kubernetes.context), or choose one with `kubectl config use-context`",
                  reader->files[0].path);
        return NULL;
    }
    int found = find_entry(reader, "contexts", "context", name, &context);
    if (found > 0)
        no_such_context(reader, name);
    if (found || find_named_entry(&context, "cluster", "clusters", &cluster) ||
        find_named_entry(&context, "user", "users", &user))
        return NULL;
    config->source = context.file->path;
    config->context = name.data;
    if (kubeconfig_fields_string(&context, context.object, "namespace", &config->namespace) ||
        read_cluster(&cluster, config) || kubeconfig_fields_read_user(&user, &cluster, config))
        return NULL;
    bool secret = config->token.length || config->key.bytes.data;
    if (secret && others_may_read(user.file->path))
        config->readable = user.file->path;
    if (config->key.file && others_may_read(config->key.file))
        config->readable = config->key.file;
    return config;
}

static int add_tree(struct config_reader *reader, const char *path, struct text source)
{
    const struct value *tree =
        yaml_read(reader->arena, source, path, &yaml_trusted_limits, reader->error);
    if (!tree)
        return -1;
    if (tree->kind != VALUE_OBJECT && tree->kind != VALUE_NULL)
        return error_set(reader->error, "%s: found a %s, expected a kubeconfig", path,
                         value_kind_name(tree->kind));
    reader->files[reader->count++] = (struct config_file){path, tree};
    return 0;
}

static int add_file(struct config_reader *reader, const char *path)
{
    struct buffer source = {0};
    struct stat status;
    int result = secret_read_file(path, FILE_LIMIT, &source, &status, reader->error);
    if (!result)
        result = add_tree(reader, path, buffer_text(&source));
    secret_wipe(&source);
    return result;
}

/* The files of $KUBECONFIG that exist. */
static int add_list(struct config_reader *reader, const char *list)
{
    struct text rest = text_of(list), path;
    while (text_next(&rest, ':', &path)) {
        const char *copy = arena_text(reader->arena, path.data, path.length).data;
        if (path.length == 0 || (access(copy, F_OK) && errno == ENOENT))
            continue;
        if (reader->count == CONFIG_FILES_MOST)
            return error_set(reader->error, "$KUBECONFIG names more than %d files",
                             CONFIG_FILES_MOST);
        if (add_file(reader, copy))
            return -1;
    }
    return 0;
}

static const char *home_path(struct arena *arena)
{
    const char *home = getenv("HOME");
    const struct passwd *entry = home && *home ? NULL : getpwuid(geteuid());
    if (entry)
        home = entry->pw_dir;
    return home && *home ? arena_printf(arena, "%s/.kube/config", home).data : NULL;
}

/* ---- the service account of the pod we are in ---- */

/* Make a configuration of what a pod finds in its environment and its files.  Without a token
 * there is none. */
static struct kubeconfig *read_service_account(struct arena *arena, const char *directory,
                                               struct error *error)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    struct kubeconfig *config = arena_allocate(arena, sizeof(*config));
    struct buffer bytes = {0};
    bool six = strchr(host, ':') && host[0] != '[';
    *config = (struct kubeconfig){
        .source = "the pod's service account",
        .server = arena_printf(arena, "https://%s%s%s:%s", six ? "[" : "", host, six ? "]" : "",
                               port && *port ? port : "443")
                      .data,
        .tls_name = "",
        .proxy = "",
        .namespace = "",
        .context = "",
        .ca.file = arena_printf(arena, "%s/ca.crt", directory).data,
        .token_file = arena_printf(arena, "%s/token", directory).data,
        .impersonate = arena_allocate(arena, sizeof(*config->impersonate)),
    };
    struct stat status;
    if (secret_read_file(arena_printf(arena, "%s/namespace", directory).data, FILE_LIMIT, &bytes,
                         &status, NULL) == 0) {
        struct text name = text_trim(buffer_text(&bytes));
        config->namespace = arena_text(arena, name.data, name.length).data;
    }
    buffer_free(&bytes);
    if (access(config->token_file, F_OK) == 0)
        return config;
    error_set(error,
              "dlspool runs in a pod that has no service account's token (%s is missing): let the "
              "pod have one (automountServiceAccountToken), or name a kubeconfig in dlspool.yaml",
              config->token_file);
    return NULL;
}

struct kubeconfig *kubeconfig_read(struct arena *arena, const char *path, const char *context,
                                   const char *service_account, struct error *error)
{
    struct config_reader reader = {.arena = arena, .error = error};
    const char *list = getenv("KUBECONFIG"), *home = home_path(arena);
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    int result = *path                             ? add_file(&reader, path)
                 : list && *list                   ? add_list(&reader, list)
                 : home && access(home, F_OK) == 0 ? add_file(&reader, home)
                                                   : 0;
    if (result)
        return NULL;
    if (reader.count)
        return read_files(&reader, context);
    if (host && *host && !*path)
        return read_service_account(arena, service_account, error);
    error_set(error,
              "there is no kubeconfig: %s%s does not exist, and this is no pod; name one in "
              "dlspool.yaml (kubernetes.kubeconfig)",
              list && *list ? "$KUBECONFIG's " : "",
              list && *list ? list
              : home        ? home
                            : "$HOME");
    return NULL;
}

struct kubeconfig *kubeconfig_parse(struct arena *arena, struct text source, const char *name,
                                    const char *context, struct error *error)
{
    struct config_reader reader = {.arena = arena, .error = error};
    return add_tree(&reader, name, source) ? NULL : read_files(&reader, context);
}

void kubeconfig_wipe(struct kubeconfig *config)
{
    secret_wipe_text(config->token);
    secret_wipe_text(config->key.bytes);
    config->token = config->key.bytes = (struct text){0};
}
