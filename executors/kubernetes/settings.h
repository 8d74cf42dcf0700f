/* executors/kubernetes/settings.h - the part `kubernetes:` of dlspool.yaml
 *
 *   kubeconfig       absolute path of a kubeconfig; "" (default): $KUBECONFIG, else ~/.kube/config,
 *                    else the service account of the pod that dlspool runs in
 *   context          of the kubeconfig; "" (default): its current-context
 *   namespace        where jobs are; "" (default): the context's, or the service account's, or
 *                    "default"
 *   live_max         objects in the cluster at most, default 1000; 0: no bound
 *   in_flight        requests under way at a time, default 32
 *   request_timeout  of one request, default 30s
 *   connect_timeout  of making a connection, default 10s
 *   proxy            URL of an HTTP or SOCKS proxy; "none"; "" (default): the kubeconfig's
 *                    proxy-url, or what the environment says (HTTPS_PROXY, NO_PROXY)
 *   log_limit        of one task's output, default "100Mi"
 *   log_requests     a second, for logs that had nothing new when they were last requested, default 5
 *   allow_host_network  whether a template may set hostNetwork, default false
 *   host_paths       list of directories below which a template may mount hostPath volumes;
 *                    default none
 */
#ifndef EXECUTORS_KUBERNETES_SETTINGS_H
#define EXECUTORS_KUBERNETES_SETTINGS_H

#include "base/error.h"
#include "base/value.h"

struct kubernetes_settings {
    struct text kubeconfig, context, namespace, proxy; /* each may be empty; end with NUL */
    int64_t live_max;
    int in_flight;
    int64_t request_timeout, connect_timeout; /* milliseconds */
    int64_t log_limit;                        /* bytes */
    int log_requests;                         /* a second */
    bool allow_host_network;
    struct text *host_paths; /* absolute, normal (no "..", no doubled slashes), no slash at the
                                   end but for "/" itself */
    size_t host_path_count;
};

/* `settings` is the tree of dlspool.yaml, or NULL for all defaults.  What is read lives in the
 * arena.  -1 and a sentence on failure. */
int kubernetes_settings_read(struct kubernetes_settings *kubernetes, struct arena *arena,
                             const struct value *settings, struct error *error);

#endif
