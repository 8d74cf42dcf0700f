/* executors/kubernetes/kubeconfig.h - the API server's address, and the identity to use there
 *
 * A kubeconfig is YAML: clusters, users, and contexts that join them.  $KUBECONFIG may name several
 * files, with colons between them, of which the first one that has an entry wins; files of that
 * list that do not exist are left out.  Paths in a file are relative to the file.  See
 * https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ and
 * https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 *
 * Refused, with a sentence that says what to do: insecure-skip-tls-verify, servers that are not
 * https, user names with passwords and auth-providers as the only credential.  Sentences name file,
 * line and field, and never repeat a value that could be secret.
 */
#ifndef EXECUTORS_KUBERNETES_KUBECONFIG_H
#define EXECUTORS_KUBERNETES_KUBECONFIG_H

#include <stdbool.h>

#include "base/error.h"
#include "base/value.h"
#include "executors/kubernetes/kubeconfig_pem.h"

#define KUBECONFIG_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

struct kubeconfig_plugin {
    const char *api_version;
    const char **arguments;      /* the command first; ends with NULL */
    const char **variables;      /* name, value, name, value ..., NULL */
    const struct value *cluster; /* what the plugin is to know of the cluster; or NULL */
    const char *install_hint;    /* what to do when the command is missing; or NULL */
};

struct kubeconfig {
    const char *source;    /* for sentences: the file, or "the pod's service account" */
    const char *server;    /* https://..., without a slash at the end */
    const char *tls_name;  /* or "" */
    const char *proxy;     /* URL, or "": nothing said */
    const char *namespace; /* of the context or the service account; or "" */
    const char *context;   /* its name; "" for a service account */
    struct kubeconfig_pem ca, certificate, key;
    struct text token;                /* or data NULL */
    const char *token_file;           /* or NULL; comes before the token */
    struct kubeconfig_plugin *plugin; /* or NULL */
    const char **impersonate;         /* headers Impersonate-..., ends with NULL */
    const char *readable;             /* a file with a secret in it that others may read; or NULL */
};

/* Read what `path` names; "": what $KUBECONFIG names, else ~/.kube/config, else, where it stands in
 * the environment, the service account whose files are in `service_account`.  `context` "" is the
 * current-context.  All is in the arena, which should be wiped; secrets are also in there.  NULL
 * and a sentence on failure. */
struct kubeconfig *kubeconfig_read(struct arena *arena, const char *path, const char *context,
                                   const char *service_account, struct error *error);

/* The same of one file's bytes; for tests. */
struct kubeconfig *kubeconfig_parse(struct arena *arena, struct text source, const char *name,
                                    const char *context, struct error *error);

/* Wipe what the kubeconfig holds of secrets.  The arena is freed by its owner. */
void kubeconfig_wipe(struct kubeconfig *kubeconfig);

#endif
