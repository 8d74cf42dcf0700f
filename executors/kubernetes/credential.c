/* executors/kubernetes/credential.c - the present credential for requests */
#include "executors/kubernetes/credential.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/kubernetes/plugin.h"
#include "executors/secret.h"

enum {
    PATIENCE = 5000, /* milliseconds in which a plugin that failed is not run again */
    EARLY = 10000    /* milliseconds before it expires that a credential is replaced */
};

struct kubernetes_credential {
    const struct kubeconfig *config;
    struct secret token, ca, certificate, key;
    char *header;
    int64_t expires;   /* of the plugin's; 0: not said */
    bool asked;        /* the plugin has answered */
    int64_t failed_at; /* of clock_elapsed(): when the plugin failed last; 0: it did not */
    struct error failure;
};

static void set_bytes(struct secret *source, struct text bytes)
{
    if (bytes.data)
        buffer_add_text(&source->bytes, bytes);
}

struct kubernetes_credential *kubernetes_credential_new(const struct kubeconfig *config)
{
    struct kubernetes_credential *credential = memory_allocate(sizeof(*credential));
    credential->config = config;
    credential->token.path = config->token_file;
    credential->ca.path = config->ca.file;
    credential->certificate.path = config->certificate.file;
    credential->key.path = config->key.file;
    set_bytes(&credential->token, config->token);
    set_bytes(&credential->ca, config->ca.bytes);
    set_bytes(&credential->certificate, config->certificate.bytes);
    set_bytes(&credential->key, config->key.bytes);
    return credential;
}

static void wipe_header(struct kubernetes_credential *credential)
{
    if (credential->header)
        explicit_bzero(credential->header, strlen(credential->header));
    free(credential->header);
    credential->header = NULL;
}

void kubernetes_credential_free(struct kubernetes_credential *credential)
{
    if (!credential)
        return;
    wipe_header(credential);
    secret_wipe(&credential->token.bytes);
    secret_wipe(&credential->ca.bytes);
    secret_wipe(&credential->certificate.bytes);
    secret_wipe(&credential->key.bytes);
    free(credential);
}

/* ---- files ---- */

static int check_certificate(struct text bytes, const struct stat *status, const char *path,
                             struct error *error)
{
    (void)status;
    return kubeconfig_pem_is_encoded(bytes, "CERTIFICATE")
               ? 0
               : error_set(error, "%s is not PEM of a CERTIFICATE", path);
}

static int check_key(struct text bytes, const struct stat *status, const char *path,
                     struct error *error)
{
    (void)status;
    return kubeconfig_pem_is_encoded(bytes, "PRIVATE KEY")
               ? 0
               : error_set(error, "%s is not PEM of a PRIVATE KEY", path);
}

static int refresh_files(struct kubernetes_credential *credential, struct error *error)
{
    int token = secret_refresh(&credential->token, NULL, error);
    int ca = token < 0 ? -1 : secret_refresh(&credential->ca, check_certificate, error);
    int certificate =
        ca < 0 ? -1 : secret_refresh(&credential->certificate, check_certificate, error);
    int key = certificate < 0 ? -1 : secret_refresh(&credential->key, check_key, error);
    return key < 0 ? -1 : ca || certificate || key;
}

/* ---- the plugin ---- */

static bool replace_secret(struct buffer *old, struct buffer *new)
{
    bool same = text_equal(buffer_text(old), buffer_text(new));
    secret_wipe(old);
    *old = *new;
    *new = (struct buffer){0};
    return !same;
}

/* Run the plugin when its credential is about to expire.  After a failure it is not run again for
 * PATIENCE, and the old credential is used for as long as it is valid. */
static int refresh_plugin(struct kubernetes_credential *credential, struct error *error)
{
    const struct kubeconfig *config = credential->config;
    struct kubernetes_plugin_answer answer = {0};
    /* A token of the kubeconfig itself comes first, as for kubectl. */
    if (!config->plugin || config->token.data || config->token_file)
        return 0;
    bool expired = credential->expires && clock_now() > credential->expires - EARLY;
    if (credential->asked && !expired)
        return 0;
    /* Every batch of requests would wait for a plugin that fails slowly. */
    if (credential->failed_at && clock_elapsed() - credential->failed_at < PATIENCE) {
        if (credential->asked && credential->expires > clock_now())
            return 0;
        return error_set(error, "%s", credential->failure.text);
    }
    int result = kubernetes_plugin_run(config->plugin, KUBERNETES_PLUGIN_TIME, &answer,
                                       &credential->failure);
    credential->failed_at = result ? clock_elapsed() : 0;
    if (result)
        error_set(error, "%s", credential->failure.text);
    if (!result) {
        bool own = config->certificate.file || config->certificate.bytes.data;
        replace_secret(&credential->token.bytes, &answer.token);
        if (!own)
            result = replace_secret(&credential->certificate.bytes, &answer.certificate) |
                     replace_secret(&credential->key.bytes, &answer.key);
        credential->expires = answer.expires;
        credential->asked = true;
    } else if (credential->asked && credential->expires > clock_now()) {
        result = 0; /* the old one is valid for some more seconds */
    }
    secret_wipe(&answer.token);
    secret_wipe(&answer.certificate);
    secret_wipe(&answer.key);
    return result;
}

/* ---- both ---- */

/* Make the header with the token.  -1 and a sentence when the token cannot go into a header. */
static int make_header(struct kubernetes_credential *credential, struct error *error)
{
    struct text token = buffer_text(&credential->token.bytes);
    wipe_header(credential);
    for (size_t i = 0; i < token.length; i++)
        if (token.data[i] <= ' ' || token.data[i] == 0x7f)
            return error_set(error, "%s: what should be a token has spaces or control characters",
                             credential->token.path ? credential->token.path
                                                    : credential->config->source);
    if (token.length == 0)
        return 0;
    struct buffer line = {0};
    buffer_reserve(&line, token.length + sizeof("Authorization: Bearer "));
    buffer_add_string(&line, "Authorization: Bearer ");
    buffer_add_text(&line, token);
    credential->header = line.data;
    return 0;
}

int kubernetes_credential_refresh(struct kubernetes_credential *credential, struct error *error)
{
    secret_close_memory();
    int files = refresh_files(credential, error);
    int plugin = files < 0 ? -1 : refresh_plugin(credential, error);
    if (plugin < 0 || make_header(credential, error))
        return -1;
    return files || plugin;
}

const char *kubernetes_credential_header(const struct kubernetes_credential *credential)
{
    return credential->header;
}

static struct text bytes_of(const struct secret *source)
{
    return source->bytes.length ? buffer_text(&source->bytes) : (struct text){0};
}

void kubernetes_credential_apply(const struct kubernetes_credential *credential,
                                 struct http_settings *settings)
{
    settings->ca = bytes_of(&credential->ca);
    settings->certificate = bytes_of(&credential->certificate);
    settings->key = bytes_of(&credential->key);
}
