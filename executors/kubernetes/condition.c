/* executors/kubernetes/condition.c - the conditions in the status of an object of the cluster */
#include "executors/kubernetes/condition.h"

const struct value *kubernetes_condition_find(const struct value *status, const char *type)
{
    return value_find(value_get(status, "conditions"), "type", text_of(type));
}

const struct value *kubernetes_condition_find_true(const struct value *status, const char *type)
{
    const struct value *condition = kubernetes_condition_find(status, type);
    return text_is(value_get_text(condition, "status"), "True") ? condition : NULL;
}
