/* executors/kubernetes/condition.h - the conditions in the status of an object of the cluster */
#ifndef EXECUTORS_KUBERNETES_CONDITION_H
#define EXECUTORS_KUBERNETES_CONDITION_H

#include "base/value.h"

/* The condition of that type, whatever its status; NULL when there is none. */
const struct value *kubernetes_condition_find(const struct value *status, const char *type);
/* The same, NULL unless its status is "True". */
const struct value *kubernetes_condition_find_true(const struct value *status, const char *type);

#endif
