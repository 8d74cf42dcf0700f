/* tests/fuzz/kubeconfig_fuzz.c - executors/kubernetes/kubeconfig.h and executors/kubernetes/plugin.h: any bytes as a
 * kubeconfig, and as what a credential plugin writes
 *
 * The input's parts, with a line of `---` between them, are the kubeconfig and the plugin's output.
 * What is accepted can go into URLs, headers, file names and environments as it is.
 */
#include "base/utf8.h"
#include "executors/kubernetes/plugin.h"
#include "executors/secret.h"
#include "tests/fuzz/fuzz.h"

static void check_line(const char *line)
{
    CHECK(line && utf8_valid(text_of(line)));
    for (; *line; line++)
        CHECK((unsigned char)*line >= ' ' && *line != 0x7f);
}

static void check_pem(const struct kubeconfig_pem *pem, const char *kind)
{
    if (pem->bytes.data)
        CHECK(kubeconfig_pem_is_encoded(pem->bytes, kind));
    if (pem->file)
        CHECK(pem->file[0] == '/');
}

static void check_plugin(const struct kubeconfig_plugin *plugin)
{
    CHECK(plugin->arguments[0] && *plugin->arguments[0]);
    for (size_t i = 0; plugin->variables[i]; i += 2)
        CHECK(*plugin->variables[i] && !strchr(plugin->variables[i], '=') &&
              plugin->variables[i + 1]);
    if (plugin->cluster)
        check_tree(plugin->cluster);
}

static void check_config(const struct kubeconfig *config)
{
    CHECK(strncmp(config->server, "https://", 8) == 0 && !strpbrk(config->server, " ?#@\"\\"));
    check_line(config->server);
    check_line(config->tls_name);
    check_line(config->proxy);
    check_line(config->namespace);
    check_pem(&config->ca, "CERTIFICATE");
    check_pem(&config->certificate, "CERTIFICATE");
    check_pem(&config->key, "PRIVATE KEY");
    CHECK(config->token.length || config->token_file || config->plugin ||
          config->certificate.file || config->certificate.bytes.data);
    if (config->token.data)
        check_line(config->token.data);
    for (size_t i = 0; config->impersonate[i]; i++)
        CHECK(!strpbrk(config->impersonate[i], "\r\n"));
    if (config->plugin)
        check_plugin(config->plugin);
}

static void read_output(struct text output)
{
    struct kubernetes_plugin_answer answer = {0};
    struct error error = {""};
    if (kubernetes_plugin_read(output, "client.authentication.k8s.io/v1", &answer, &error)) {
        check_sentence(&error);
    } else {
        CHECK(answer.token.length || answer.certificate.length);
        CHECK(!answer.certificate.length == !answer.key.length);
        for (size_t i = 0; i < answer.token.length; i++)
            CHECK(answer.token.data[i] > ' ' || (unsigned char)answer.token.data[i] >= 0x80);
    }
    secret_wipe(&answer.token);
    secret_wipe(&answer.certificate);
    secret_wipe(&answer.key);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length);
    struct text source = fuzz_part(&rest);
    struct arena *arena = arena_new();
    struct error error = {""};
    struct kubeconfig *config = kubeconfig_parse(arena, source, "/d/config", "", &error);
    if (config) {
        check_config(config);
        kubeconfig_wipe(config);
    } else {
        check_sentence(&error);
    }
    read_output(rest);
    arena_free(arena);
    return 0;
}
