/* tests/unit/kubeconfig_test.c - kubeconfigs, and the part `kubernetes:` of dlspool.yaml */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/yaml.h"
#include "executors/base64.h"
#include "executors/kubernetes/kubeconfig.h"
#include "executors/kubernetes/settings.h"

static struct arena *arena;
static char *directory;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    directory = unit_directory();
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    unit_remove(directory);
    return 0;
}

static const char *path_of(const char *name)
{
    return arena_printf(arena, "%s/%s", directory, name).data;
}

static void write_file(const char *name, const char *content)
{
    int file = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), (ssize_t)strlen(content));
    close(file);
}

#define CONTEXT "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
#define CLUSTER "clusters: [{name: k, cluster: {server: 'https://h:6443'}}]\n"
#define USER "users: [{name: u, user: {token: s3cr3t}}]\n"

static struct kubeconfig *parse(const char *source, struct error *error)
{
    error->text[0] = '\0';
    return kubeconfig_parse(arena, text_of(source), "/d/config", "", error);
}

static void the_context_joins_cluster_and_user(void **state)
{
    (void)state;
    struct error error;
    static const char source[] =
        "apiVersion: v1\nkind: Config\npreferences: {}\n"
        "clusters:\n"
        "- name: other\n  cluster: {server: 'https://other'}\n"
        "- cluster:\n    certificate-authority: ca.crt\n    server: https://[::1]:6443/path/\n"
        "    tls-server-name: kubernetes\n    proxy-url: socks5://p:1\n  name: kind-kind\n"
        "contexts:\n- context:\n    cluster: kind-kind\n    namespace: ml\n    user: kind-user\n"
        "  name: kind\ncurrent-context: kind\n"
        "users:\n- name: kind-user\n  user:\n    client-certificate: /abs/crt\n"
        "    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=\n"
        "    as: somebody\n    as-groups: [a, b]\n";
    struct kubeconfig *config = parse(source, &error);
    if (!config)
        fail_msg("%s", error.text);
    assert_string_equal(config->server, "https://[::1]:6443/path");
    assert_string_equal(config->tls_name, "kubernetes");
    assert_string_equal(config->proxy, "socks5://p:1");
    assert_string_equal(config->namespace, "ml");
    assert_string_equal(config->ca.file, "/d/ca.crt");
    assert_string_equal(config->certificate.file, "/abs/crt");
    assert_string_equal(config->key.bytes.data, "-----BEGIN RSA PRIVATE KEY-----\n");
    assert_null(config->token.data);
    assert_string_equal(config->impersonate[0], "Impersonate-User: somebody");
    assert_string_equal(config->impersonate[2], "Impersonate-Group: b");
    assert_null(config->impersonate[3]);
    kubeconfig_wipe(config);
    assert_null(config->key.bytes.data);
}

static void what_is_wrong_is_said_with_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *source, *words;
    } cases[] = {
        {"", "/d/config: there is no current-context; name one"},
        {"- a\n", "/d/config: found a list, expected a kubeconfig"},
        {"a: [\n", "/d/config:2"},
        {"current-context: prod\ncontexts: [{name: a, context: {}}, {name: b, context: {}}]\n",
         "there is no context \"prod\" (there are: a, b)"},
        {"current-context: c\ncontexts: [{name: c, context: {user: u}}]\n",
         "/d/config:2: context \"c\": cluster: is missing"},
        {CONTEXT USER, "/d/config:2: context \"c\": cluster: there is no \"k\" in clusters"},
        {CONTEXT CLUSTER, "/d/config:2: context \"c\": user: there is no \"u\" in users"},
        {CONTEXT USER "clusters: [{name: k, cluster: 7}]\n",
         "/d/config:4: cluster \"k\": cluster: expected an object"},
        {CONTEXT USER "clusters: [{name: k, cluster: {}}]\n", "server: is missing"},
        {CONTEXT USER "clusters:\n- name: k\n  cluster:\n    server: http://h\n",
         "/d/config:7: cluster \"k\": server: expected https://HOST:PORT"},
        {CONTEXT USER "clusters: [{name: k, cluster: {server: 'https://h x'}}]\n", "https://HOST"},
        {CONTEXT USER "clusters: [{name: k, cluster: {server: 1}}]\n", "expected a string"},
        {CONTEXT USER
         "clusters: [{name: k, cluster: {server: 'https://h', insecure-skip-tls-verify: true}}]\n",
         "insecure-skip-tls-verify: dlspool does not talk to a server"},
        {CONTEXT USER "clusters: [{name: k, cluster: {server: 'https://h', "
                      "certificate-authority-data: '%%%'}}]\n",
         "certificate-authority-data: this is not base64"},
        {CONTEXT USER "clusters: [{name: k, cluster: {server: 'https://h', "
                      "certificate-authority-data: aGVsbG8K}}]\n",
         "is not PEM"},
        {CONTEXT CLUSTER "users: [{name: u, user: {}}]\n", "there is no credential"},
        {CONTEXT CLUSTER "users: [{name: u}]\n", "there is no credential"},
        {CONTEXT CLUSTER "users: [{name: u, user: {token: 12}}]\n",
         "/d/config:4: user \"u\": token: expected a string"},
        {CONTEXT CLUSTER "users: [{name: u, user: {token: \"s3cr3t\\r\\nX: y\"}}]\n",
         "token: there is a control character in it"},
        {CONTEXT CLUSTER "users: [{name: u, user: {username: a, password: s3cr3t}}]\n",
         "no longer take passwords"},
        {CONTEXT CLUSTER "users: [{name: u, user: {auth-provider: {name: gcp}}}]\n",
         "auth-provider: kubectl itself has dropped these; use the provider's exec plugin"},
        {CONTEXT CLUSTER "users: [{name: u, user: {client-key: k}}]\n",
         "client-certificate: is missing"},
        {CONTEXT CLUSTER "users: [{name: u, user: {token: t, as-user-extra: {a: [b]}}}]\n",
         "as-user-extra"},
        {CONTEXT CLUSTER "users: [{name: u, user: {exec: {command: x}}}]\n", "exec.apiVersion"},
        {CONTEXT CLUSTER
         "users: [{name: u, user: {exec: {apiVersion: "
         "client.authentication.k8s.io/v1, command: x, interactiveMode: Always}}}]\n",
         "wants a terminal"},
        {CONTEXT CLUSTER "users: [{name: u, user: {exec: {apiVersion: "
                         "client.authentication.k8s.io/v1, command: x, args: [1]}}}]\n",
         "exec.args"},
        {CONTEXT CLUSTER "users: [{name: u, user: {exec: {apiVersion: "
                         "client.authentication.k8s.io/v1, command: x, env: [{name: a=b, value: "
                         "c}]}}}]\n",
         "exec.env"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct error error;
        struct kubeconfig *config = parse(cases[i].source, &error);
        if (config || !strstr(error.text, cases[i].words) || strstr(error.text, "s3cr3t"))
            fail_msg("%s gives %s", cases[i].source, config ? "a kubeconfig" : error.text);
    }
}

static void a_plugin_is_read(void **state)
{
    (void)state;
    struct error error;
    struct kubeconfig *config =
        parse(CONTEXT "clusters:\n- name: k\n  cluster:\n    server: https://h\n"
                      "    extensions: [{name: client.authentication.k8s.io/exec, extension: "
                      "{audience: a}}]\n"
                      "users:\n- name: u\n  user:\n    exec:\n"
                      "      apiVersion: client.authentication.k8s.io/v1beta1\n"
                      "      command: aws\n      args: [eks, get-token]\n"
                      "      env: [{name: AWS_PROFILE, value: ml}]\n"
                      "      provideClusterInfo: true\n"
                      "      installHint: |-\n        apt install\n        it\n",
              &error);
    if (!config)
        fail_msg("%s", error.text);
    const struct kubeconfig_plugin *plugin = config->plugin;
    assert_string_equal(plugin->arguments[0], "aws");
    assert_string_equal(plugin->arguments[2], "get-token");
    assert_null(plugin->arguments[3]);
    assert_string_equal(plugin->variables[1], "ml");
    assert_null(plugin->variables[2]);
    assert_true(text_is(value_get_text(value_get(plugin->cluster, "config"), "audience"), "a"));
    assert_string_equal(plugin->install_hint, "apt install\nit");
}

static void of_several_files_the_first_wins(void **state)
{
    (void)state;
    struct error error;
    char list[600];
    mkdir(path_of("sub"), 0700);
    write_file("one", "contexts: [{name: c, context: {cluster: k, user: u, namespace: one}}]\n");
    write_file("sub/two", "current-context: c\n"
                          "contexts: [{name: c, context: {cluster: k, user: u, namespace: two}}]\n"
                          "clusters: [{name: k, cluster: {server: 'https://h', "
                          "certificate-authority: ../ca}}]\n");
    write_file("three", "current-context: x\n" USER);
    snprintf(list, sizeof(list), "%s:%s/missing::%s:%s", path_of("one"), directory,
             path_of("sub/two"), path_of("three"));
    setenv("KUBECONFIG", list, 1);
    struct kubeconfig *config = kubeconfig_read(arena, "", "", "/nowhere", &error);
    if (!config)
        fail_msg("%s", error.text);
    assert_string_equal(config->namespace, "one");
    assert_string_equal(config->ca.file, path_of("sub/../ca"));
    assert_string_equal(config->token.data, "s3cr3t");
    assert_null(config->readable);
    /* Everybody could read the token. */
    chmod(path_of("three"), 0644);
    config = kubeconfig_read(arena, "", "c", "/nowhere", &error);
    assert_string_equal(config->readable, path_of("three"));
    /* A file that is named must be there. */
    assert_null(kubeconfig_read(arena, path_of("missing"), "", "/nowhere", &error));
    assert_non_null(strstr(error.text, "missing could not be opened"));
    assert_null(kubeconfig_read(arena, directory, "", "/nowhere", &error));
    assert_non_null(strstr(error.text, "is not a regular file"));
    setenv("KUBECONFIG", "/nowhere/config", 1);
    assert_null(kubeconfig_read(arena, "", "", "/nowhere", &error));
    assert_non_null(strstr(error.text, "/nowhere/config does not exist"));
    unsetenv("KUBECONFIG");
    /* ~/.kube/config */
    mkdir(path_of(".kube"), 0700);
    write_file(".kube/config", CONTEXT CLUSTER USER);
    setenv("HOME", directory, 1);
    config = kubeconfig_read(arena, "", "", "/nowhere", &error);
    assert_non_null(config);
    assert_string_equal(config->server, "https://h:6443");
}

static void base64_is_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *encoded, *decoded;
    } cases[] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9v\nYmFy", "foobar"},
        {"Zm9", NULL},
        {"Zg==Zg==", NULL},
        {"Z===", NULL},
        {"Zm9-", NULL},
        {"====", NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer out = {0};
        int result = base64_decode(&out, text_of(cases[i].encoded), false);
        assert_int_equal(result, cases[i].decoded ? 0 : -1);
        if (cases[i].decoded)
            assert_true(text_is(buffer_text(&out), cases[i].decoded));
        buffer_free(&out);
    }
}

/* ---- dlspool.yaml ---- */

static int read_settings(struct kubernetes_settings *settings, const char *source,
                         struct error *error)
{
    const struct value *tree =
        yaml_read(arena, text_of(source), "dlspool.yaml", &yaml_request_limits, error);
    assert_non_null(tree);
    return kubernetes_settings_read(settings, arena, tree, error);
}

static void settings_are_read(void **state)
{
    (void)state;
    struct error error;
    struct kubernetes_settings settings;
    assert_int_equal(kubernetes_settings_read(&settings, arena, NULL, &error), 0);
    assert_int_equal(settings.live_max, 1000);
    assert_int_equal(settings.in_flight, 32);
    assert_int_equal(settings.request_timeout, 30000);
    assert_int_equal(settings.connect_timeout, 10000);
    assert_int_equal(settings.log_limit, 100 << 20);
    assert_int_equal(settings.log_requests, 5);
    assert_int_equal(settings.host_path_count, 0);
    assert_int_equal(settings.kubeconfig.length, 0);
    assert_int_equal(
        read_settings(&settings,
                      "kubernetes:\n  kubeconfig: /etc//dlspool/./config\n  context: prod\n"
                      "  namespace: ml-team\n  live_max: 0\n  in_flight: 4\n"
                      "  request_timeout: 1m\n  connect_timeout: 5\n  proxy: none\n"
                      "  log_limit: 1Gi\n  allow_host_network: true\n"
                      "  host_paths: [/data/, //scratch/x/]\n",
                      &error),
        0);
    assert_string_equal(settings.kubeconfig.data, "/etc/dlspool/config");
    assert_int_equal(settings.live_max, 0);
    assert_int_equal(settings.request_timeout, 60000);
    assert_int_equal(settings.connect_timeout, 5000);
    assert_true(settings.allow_host_network);
    assert_int_equal(settings.host_path_count, 2);
    assert_string_equal(settings.host_paths[0].data, "/data");
    assert_string_equal(settings.host_paths[1].data, "/scratch/x");
}

static void mistakes_in_settings_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *source, *words;
    } cases[] = {
        {"kubernetes: 7\n", "dlspool.yaml:1:13: kubernetes: found 7"},
        {"kubernetes:\n  contex: a\n", "dlspool.yaml:2:3: kubernetes.contex: unknown setting; did "
                                       "you mean context?"},
        {"kubernetes: {kubeconfig: relative}\n", "an absolute path"},
        {"kubernetes: {namespace: Upper}\n", "kubernetes.namespace: found \"Upper\""},
        {"kubernetes: {namespace: a/b}\n", "the name of a namespace"},
        {"kubernetes: {live_max: -1}\n", "a whole number from 0 to 1000000"},
        {"kubernetes: {in_flight: 0}\n", "a whole number from 1 to 256"},
        {"kubernetes: {request_timeout: 2h}\n", "from 1 ms to 1 h"},
        {"kubernetes: {proxy: 'ftp://u:s3cr3t@p'}\n", "expected a URL"},
        {"kubernetes: {log_limit: 0}\n", "a size"},
        {"kubernetes: {allow_host_network: 1}\n", "true or false"},
        {"kubernetes: {host_paths: [/a/../etc]}\n", "without \"..\""},
        {"kubernetes: {host_paths: /a}\n", "a list of directories"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct error error = {""};
        struct kubernetes_settings settings;
        int result = read_settings(&settings, cases[i].source, &error);
        if (result == 0 || !strstr(error.text, cases[i].words) || strstr(error.text, "s3cr3t"))
            fail_msg("%s gives %s", cases[i].source, result ? error.text : "no error");
    }
}

int main(void)
{
#define PREPARED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PREPARED(the_context_joins_cluster_and_user),
        PREPARED(what_is_wrong_is_said_with_file_and_line),
        PREPARED(a_plugin_is_read),
        PREPARED(of_several_files_the_first_wins),
        PREPARED(base64_is_decoded),
        PREPARED(settings_are_read),
        PREPARED(mistakes_in_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
