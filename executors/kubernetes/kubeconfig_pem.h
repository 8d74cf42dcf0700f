/* executors/kubernetes/kubeconfig_pem.h - certificates and keys of a kubeconfig */
#ifndef EXECUTORS_KUBERNETES_KUBECONFIG_PEM_H
#define EXECUTORS_KUBERNETES_KUBECONFIG_PEM_H

#include <stdbool.h>

#include "base/text.h"

/* PEM that stands in the kubeconfig, or in a file that may change. */
struct kubeconfig_pem {
    struct text bytes; /* data NULL: not given */
    const char *file;  /* NULL: not given */
};

/* Does it start like PEM of that kind, such as "CERTIFICATE" or "PRIVATE KEY"? */
bool kubeconfig_pem_is_encoded(struct text bytes, const char *kind);

#endif
