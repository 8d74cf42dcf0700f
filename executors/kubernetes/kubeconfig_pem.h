/* executors/kubernetes/kubeconfig_pem.h - certificates and keys of a kubeconfig: PEM, in base64 or in a file
 * of its own */
#ifndef EXECUTORS_KUBERNETES_KUBECONFIG_PEM_H
#define EXECUTORS_KUBERNETES_KUBECONFIG_PEM_H

#include <stdbool.h>

#include "base/text.h"

/* PEM that stands in the kubeconfig, or in a file that may change. */
struct kubeconfig_pem {
    struct text bytes; /* data NULL: not given */
    const char *file;  /* NULL: not given */
};

/* Append the bytes of base64 text; white space in it is allowed.  -1 when it is not base64. */
int kubeconfig_pem_decode(struct buffer *out, struct text base64);

/* Does it start like PEM of that kind, such as "CERTIFICATE" or "PRIVATE KEY"? */
bool kubeconfig_pem_is_encoded(struct text bytes, const char *kind);

#endif
