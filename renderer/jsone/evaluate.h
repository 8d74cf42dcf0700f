/* renderer/jsone/evaluate.h - evaluate expressions
 *
 * Both return NULL after raising an error.
 */
#ifndef RENDERER_JSONE_EVALUATE_H
#define RENDERER_JSONE_EVALUATE_H

#include "renderer/jsone/interpreter.h"

struct value *evaluate(struct interpreter *self, const struct expression *expression);

/* The same with additional variables. */
struct value *evaluate_within(struct interpreter *self, struct scope *scope,
                              const struct expression *expression);

#endif
