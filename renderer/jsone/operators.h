/* renderer/jsone/operators.h - the operators of JSON-e */
#ifndef RENDERER_JSONE_OPERATORS_H
#define RENDERER_JSONE_OPERATORS_H

#include "renderer/jsone/compiled.h"

/* The rule of the operator that a key names (with its $), or NULL. */
const struct operator_rule *operator_find(struct text key);

#endif
