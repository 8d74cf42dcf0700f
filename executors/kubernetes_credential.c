/* executors/kubernetes_credential.c - what a request is to prove itself with, now */
#include "executors/kubernetes_credential.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "executors/kubernetes_plugin.h"

enum {
    OLD_AFTER = 60000,          /* milliseconds after which a file is read again in any case */
    PATIENCE = 5000,            /* milliseconds in which a plugin that failed is not run again */
    EARLY = 10000               /* milliseconds before it expires that a credential is replaced */
};

/* What stands in a file, or stood in the kubeconfig. */
struct source {
    const char *path;           /* NULL: nothing is read */
    struct buffer bytes;
    struct stat seen;
    int64_t read_at;            /* of clock_elapsed(); 0: never */
};

struct kubernetes_credential {
    const struct kubeconfig *config;
    struct source token, ca, certificate, key;
    char *header;
    int64_t expires;            /* of the plugin's; 0: not said */
    bool asked;                 /* the plugin has answered */
    int64_t failed_at;          /* of clock_elapsed(): when the plugin failed last; 0: it did not */
    struct error failure;
};

static void set_bytes(struct source *source, struct text bytes)
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
    kubernetes_wipe(&credential->token.bytes);
    kubernetes_wipe(&credential->ca.bytes);
    kubernetes_wipe(&credential->certificate.bytes);
    kubernetes_wipe(&credential->key.bytes);
    free(credential);
}

/* Nobody else reads our memory: no core, no ptrace(2), no /proc/PID/mem. */
static void close_memory(void)
{
    static bool done;
    const struct rlimit none = {0, 0};
    if (done)
        return;
    done = true;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* ---- files ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool is_due(const struct source *source)
{
    struct stat now;
    if (!source->path)
        return false;
    if (source->read_at == 0 || clock_elapsed() - source->read_at > OLD_AFTER)
        return true;
    return stat(source->path, &now) || !is_same(&now, &source->seen);
}

/* Read the file when it is due.  1: it has changed.  `kind` NULL: a token. */
static int refresh_source(struct source *source, const char *kind,
                          struct error *error)
{
    struct buffer bytes = {0};
    struct stat seen = {0};
    if (!is_due(source))
        return 0;
    stat(source->path, &seen);  /* before: a change in between is seen the next time */
    int result = kubeconfig_read_file(source->path, &bytes, error);
    struct text trimmed = text_trim(buffer_text(&bytes));
    if (!result && kind && !kubeconfig_is_pem(trimmed, kind))
        result = error_set(error, "%s is not PEM of a %s", source->path, kind);
    if (!result && trimmed.length == 0)
        result = error_set(error, "%s is empty", source->path);
    if (!result && !text_equal(trimmed, buffer_text(&source->bytes))) {
        kubernetes_wipe(&source->bytes);
        buffer_add_text(&source->bytes, trimmed);
        result = 1;
    }
    kubernetes_wipe(&bytes);
    if (result < 0 && source->bytes.length)
        return 0;               /* it is being written, perhaps; what we have may still do */
    source->read_at = clock_elapsed();
    source->seen = seen;
    return result;
}

static int refresh_files(struct kubernetes_credential *credential,
                         struct error *error)
{
    int token = refresh_source(&credential->token, NULL, error);
    int ca = token < 0 ? -1 : refresh_source(&credential->ca, "CERTIFICATE", error);
    int certificate =
        ca < 0 ? -1
               : refresh_source(&credential->certificate, "CERTIFICATE", error);
    int key = certificate < 0
                  ? -1
                  : refresh_source(&credential->key, "PRIVATE KEY", error);
    return key < 0 ? -1 : ca || certificate || key;
}

/* ---- the plugin ---- */

static bool replace(struct buffer *old, struct buffer *new)
{
    bool same = text_equal(buffer_text(old), buffer_text(new));
    kubernetes_wipe(old);
    *old = *new;
    *new = (struct buffer){0};
    return !same;
}

static int refresh_plugin(struct kubernetes_credential *credential,
                          struct error *error)
{
    const struct kubeconfig *config = credential->config;
    struct kubernetes_plugin_answer answer = {0};
    /* A token of the kubeconfig itself comes first, as for kubectl. */
    if (!config->plugin || config->token.data || config->token_file)
        return 0;
    bool expired = credential->expires && clock_now() > credential->expires - EARLY;
    if (credential->asked && !expired)
        return 0;
    /* A plugin that fails takes its time, which every batch of requests would wait for. */
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
        replace(&credential->token.bytes, &answer.token);
        if (!own)
            result = replace(&credential->certificate.bytes, &answer.certificate) |
                     replace(&credential->key.bytes, &answer.key);
        credential->expires = answer.expires;
        credential->asked = true;
    } else if (credential->asked && credential->expires > clock_now()) {
        result = 0;             /* it is good for some seconds yet */
    }
    kubernetes_wipe(&answer.token);
    kubernetes_wipe(&answer.certificate);
    kubernetes_wipe(&answer.key);
    return result;
}

/* ---- both ---- */

/* -1 when what should be a token cannot go into a header. */
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
    buffer_room(&line, token.length + sizeof("Authorization: Bearer "));
    buffer_add_string(&line, "Authorization: Bearer ");
    buffer_add_text(&line, token);
    credential->header = line.data;
    return 0;
}

int kubernetes_credential_refresh(struct kubernetes_credential *credential,
                                  struct error *error)
{
    close_memory();
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

static struct text bytes_of(const struct source *source)
{
    return source->bytes.length ? buffer_text(&source->bytes) : (struct text){0};
}

struct text kubernetes_credential_ca(const struct kubernetes_credential *credential)
{
    return bytes_of(&credential->ca);
}

struct text kubernetes_credential_certificate(const struct kubernetes_credential *credential)
{
    return bytes_of(&credential->certificate);
}

struct text kubernetes_credential_key(const struct kubernetes_credential *credential)
{
    return bytes_of(&credential->key);
}
