/* executors/kubernetes/plugin.h - the program that makes a kubeconfig's credential
 *
 * The exec plugins of client-go: a command that writes an ExecCredential to its standard output.
 * It has no terminal and nothing on standard input, a limit of time and of output, and its last
 * words on standard error are said when it fails.  See
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
#ifndef EXECUTORS_KUBERNETES_PLUGIN_H
#define EXECUTORS_KUBERNETES_PLUGIN_H

#include "executors/kubernetes/kubeconfig.h"

struct kubernetes_plugin_answer {
    struct buffer token, certificate, key; /* each may be empty; the caller wipes and frees */
    int64_t expires;                       /* time of day; 0: not said */
};

enum { KUBERNETES_PLUGIN_TIME = 30000 }; /* milliseconds */

/* Run the plugin.  `answer` must be zeroed; what is in it after a failure is to be freed too.  -1
 * and a sentence, in which nothing of its standard output is. */
int kubernetes_plugin_run(const struct kubeconfig_plugin *plugin, int64_t time_limit,
                          struct kubernetes_plugin_answer *answer, struct error *error);

/* The second half: what the plugin wrote. */
int kubernetes_plugin_read(struct text output, const char *api_version,
                           struct kubernetes_plugin_answer *answer, struct error *error);

#endif
