/* executors/kubernetes/kubeconfig_user.c - the identity to use at the API server: token, certificate or plugin */
#include "executors/kubernetes/kubeconfig.h"
#include "executors/kubernetes/kubeconfig_fields.h"

#include <string.h>

/* ---- the plugin ---- */

static int get_arguments(const struct config_entry *user, const struct value *exec,
                         const char *command, struct kubeconfig_plugin *plugin)
{
    struct arena *arena = user->reader->arena;
    const struct value *list = value_get(exec, "args");
    size_t count = value_length(list);
    if (list && list->kind != VALUE_LIST && list->kind != VALUE_NULL)
        return kubeconfig_fields_refuse(user, list, "exec.args", "expected a list of strings");
    plugin->arguments = arena_allocate(arena, (count + 2) * sizeof(*plugin->arguments));
    /* A name without a slash is looked for in PATH. */
    plugin->arguments[0] =
        strchr(command, '/') ? kubeconfig_fields_beside(user, text_of(command)) : command;
    for (size_t i = 0; i < count; i++) {
        const struct value *item = list->list.items[i];
        if (item->kind != VALUE_STRING || memchr(item->string.data, '\0', item->string.length))
            return kubeconfig_fields_refuse(user, item, "exec.args", "expected strings");
        plugin->arguments[i + 1] = item->string.data;
    }
    return 0;
}

static int get_variables(const struct config_entry *user, const struct value *exec,
                         struct kubeconfig_plugin *plugin)
{
    const struct value *list = value_get(exec, "env");
    size_t count = value_length(list);
    if (list && list->kind != VALUE_LIST && list->kind != VALUE_NULL)
        return kubeconfig_fields_refuse(user, list, "exec.env",
                                        "expected a list of names and values");
    plugin->variables =
        arena_allocate(user->reader->arena, (2 * count + 1) * sizeof(*plugin->variables));
    for (size_t i = 0; i < count; i++) {
        struct text name = value_get_text(list->list.items[i], "name");
        struct text value = value_get_text(list->list.items[i], "value");
        if (!name.length || !value.data || memchr(name.data, '\0', name.length) ||
            memchr(name.data, '=', name.length) || memchr(value.data, '\0', value.length))
            return kubeconfig_fields_refuse(user, list->list.items[i], "exec.env",
                                            "expected a name and a value");
        plugin->variables[2 * i] = name.data;
        plugin->variables[2 * i + 1] = value.data;
    }
    return 0;
}

/* What the plugin is told of the cluster: see ExecCredentialSpec in client-authentication.v1. */
static const struct value *describe_cluster(struct arena *arena, const struct config_entry *cluster)
{
    static const char *const copied[] = {"server", "tls-server-name", "certificate-authority-data",
                                         "proxy-url"};
    struct value *object = value_object(arena);
    for (size_t i = 0; i < ARRAY_COUNT(copied); i++) {
        struct value *value = value_get(cluster->object, copied[i]);
        if (value && value->kind == VALUE_STRING)
            value_put(arena, object, copied[i], value);
    }
    const struct value *list = value_get(cluster->object, "extensions");
    for (size_t i = 0; i < value_length(list); i++) {
        struct value *extension = value_get(list->list.items[i], "extension");
        if (extension && text_is(value_get_text(list->list.items[i], "name"),
                                 "client.authentication.k8s.io/exec"))
            value_put(arena, object, "config", extension);
    }
    return object;
}

/* Read the user's `exec`, the plugin that gives credentials.  Only the versions of its protocol
 * that give tokens and certificates are taken. */
static int read_plugin(const struct config_entry *user, const struct config_entry *cluster,
                       struct kubeconfig *config)
{
    const struct value *exec = value_get(user->object, "exec");
    const char *command, *mode, *version;
    bool informed;
    struct kubeconfig_plugin *plugin = arena_allocate(user->reader->arena, sizeof(*plugin));
    if (exec->kind != VALUE_OBJECT)
        return kubeconfig_fields_refuse(user, exec, "exec", "expected an object");
    if (kubeconfig_fields_string(user, exec, "command", &command) ||
        kubeconfig_fields_string(user, exec, "interactiveMode", &mode) ||
        kubeconfig_fields_string(user, exec, "apiVersion", &version) ||
        kubeconfig_fields_boolean(user, exec, "provideClusterInfo", &informed))
        return -1;
    if (!*command)
        return kubeconfig_fields_refuse(user, exec, "exec.command", "is missing");
    if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
        strcmp(version, "client.authentication.k8s.io/v1beta1") != 0)
        return kubeconfig_fields_refuse(user, exec, "exec.apiVersion",
                                        "expected client.authentication.k8s.io/v1 or .../v1beta1");
    if (strcmp(mode, "Always") == 0)
        return kubeconfig_fields_refuse(
            user, exec, "exec.interactiveMode",
            "this plugin wants a terminal, and dlspool has none; give dlspool a service "
            "account's token");
    plugin->api_version = version;
    plugin->install_hint = value_get_text(exec, "installHint").data; /* may have several lines */
    if (informed)
        plugin->cluster = describe_cluster(user->reader->arena, cluster);
    config->plugin = plugin;
    return get_arguments(user, exec, command, plugin) || get_variables(user, exec, plugin) ? -1 : 0;
}

/* ---- the user ---- */

/* `as` and what goes with it are headers of each request. */
static int read_impersonation(const struct config_entry *user, struct kubeconfig *config)
{
    struct arena *arena = user->reader->arena;
    const char *as, *uid;
    const struct value *groups = value_get(user->object, "as-groups");
    size_t count = value_length(groups), used = 0;
    if (kubeconfig_fields_string(user, user->object, "as", &as) ||
        kubeconfig_fields_string(user, user->object, "as-uid", &uid))
        return -1;
    if (value_get(user->object, "as-user-extra"))
        return kubeconfig_fields_refuse(user, value_get(user->object, "as-user-extra"),
                                        "as-user-extra", "dlspool cannot do this");
    config->impersonate = arena_allocate(arena, (count + 3) * sizeof(*config->impersonate));
    if (*as)
        config->impersonate[used++] = arena_printf(arena, "Impersonate-User: %s", as).data;
    if (*uid)
        config->impersonate[used++] = arena_printf(arena, "Impersonate-Uid: %s", uid).data;
    for (size_t i = 0; i < count; i++) {
        const struct value *group = groups->list.items[i];
        if (group->kind != VALUE_STRING || strpbrk(group->string.data, "\r\n") ||
            strlen(group->string.data) != group->string.length)
            return kubeconfig_fields_refuse(user, group, "as-groups", "expected names of groups");
        config->impersonate[used++] =
            arena_printf(arena, "Impersonate-Group: %s", group->string.data).data;
    }
    return 0;
}

static int has_credential(const struct config_entry *user, const struct kubeconfig *config)
{
    const struct value *object = user->object, *provider = value_get(object, "auth-provider");
    if (config->token.length || config->token_file || config->plugin || config->certificate.file ||
        config->certificate.bytes.data)
        return 0;
    if (provider && provider->kind != VALUE_NULL)
        return kubeconfig_fields_refuse(
            user, provider, "auth-provider",
            "kubectl itself has dropped these; use the provider's exec plugin, or a "
            "service account's token");
    if (value_get_text(object, "username").length || value_get_text(object, "password").length)
        return kubeconfig_fields_refuse(
            user, object, "username",
            "API servers no longer take passwords; use a token or a client certificate");
    return kubeconfig_fields_refuse(
        user, object, "token",
        "there is no credential; expected token, tokenFile, client-certificate or exec");
}

int kubeconfig_fields_read_user(const struct config_entry *user, const struct config_entry *cluster,
                                struct kubeconfig *config)
{
    const char *token;
    const struct value *exec = value_get(user->object, "exec");
    if (kubeconfig_fields_string(user, user->object, "token", &token) ||
        kubeconfig_fields_path(user, "tokenFile", &config->token_file) ||
        kubeconfig_fields_pem(user, "client-certificate", "CERTIFICATE", &config->certificate) ||
        kubeconfig_fields_pem(user, "client-key", "PRIVATE KEY", &config->key) ||
        read_impersonation(user, config))
        return -1;
    if (strpbrk(token, " \t"))
        return kubeconfig_fields_refuse(user, value_get(user->object, "token"), "token",
                                        "there is a space in it");
    config->token = *token ? text_of(token) : (struct text){0};
    bool certificate = config->certificate.file || config->certificate.bytes.data;
    bool key = config->key.file || config->key.bytes.data;
    if (certificate != key)
        return kubeconfig_fields_refuse(user, NULL,
                                        certificate ? "client-key" : "client-certificate",
                                        "is missing; certificate and key go together");
    if (exec && exec->kind != VALUE_NULL && read_plugin(user, cluster, config))
        return -1;
    return has_credential(user, config);
}
