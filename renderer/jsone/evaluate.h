/* renderer/jsone/evaluate.h - expressions become values
 *
 * NULL when the reason why there is no value was raised.
 */
#ifndef RENDERER_JSONE_EVALUATE_H
#define RENDERER_JSONE_EVALUATE_H

#include "renderer/jsone/interpreter.h"

struct value *evaluate(struct interpreter *self, const struct expression *expression);

/* The same with some more variables. */
struct value *evaluate_within(struct interpreter *self, struct scope *scope,
                              const struct expression *expression);

#endif
