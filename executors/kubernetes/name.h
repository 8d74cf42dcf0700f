/* executors/kubernetes/name.h - which names, labels and keys an API server accepts */
#ifndef EXECUTORS_KUBERNETES_NAME_H
#define EXECUTORS_KUBERNETES_NAME_H

#include <stdbool.h>

#include "base/text.h"

enum {
    KUBERNETES_LABEL_LONGEST = 63, /* bytes: a label's value, a DNS label, a pod's host name */
    KUBERNETES_NAME_LONGEST = 253  /* bytes: a DNS name, a key of a ConfigMap or Secret */
};

/* A DNS label: small letters, digits and inner hyphens; with `letter`, a letter first. */
bool kubernetes_name_is_label(struct text name, bool letter);
/* The value of a label: empty, or letters, digits and inner - _ and . */
bool kubernetes_name_is_label_value(struct text value);
/* The key of a label or annotation: NAME or DOMAIN/NAME. */
bool kubernetes_name_is_label_key(struct text key);
/* A key of a ConfigMap's or Secret's data: letters, digits, - _ and . */
bool kubernetes_name_is_data_key(struct text key);

#endif
