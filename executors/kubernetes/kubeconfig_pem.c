/* executors/kubernetes/kubeconfig_pem.c - certificates and keys of a kubeconfig */
#include "executors/kubernetes/kubeconfig_pem.h"

bool kubeconfig_pem_is_encoded(struct text bytes, const char *kind)
{
    struct buffer mark = {0};
    buffer_printf(&mark, "%s-----", kind);
    bool found =
        text_contains(bytes, TEXT("-----BEGIN ")) && text_contains(bytes, buffer_text(&mark));
    buffer_free(&mark);
    return found;
}
