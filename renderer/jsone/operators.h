/* renderer/jsone/operators.h - the operators of JSON-e, for the table in operators.c
 *
 * Each renders its operation: a value, self->delete_marker when there is nothing, or NULL when it
 * was raised why not.
 */
#ifndef RENDERER_JSONE_OPERATORS_H
#define RENDERER_JSONE_OPERATORS_H

#include "renderer/jsone/compiled.h"

/* collections.c */
struct value *render_map(struct interpreter *self, const struct operation *operation);
struct value *render_reduce(struct interpreter *self, const struct operation *operation);
struct value *render_find(struct interpreter *self, const struct operation *operation);
struct value *render_sort(struct interpreter *self, const struct operation *operation);
struct value *render_reverse(struct interpreter *self, const struct operation *operation);
struct value *render_flatten(struct interpreter *self, const struct operation *operation);
struct value *render_flatten_deep(struct interpreter *self, const struct operation *operation);
struct value *render_merge(struct interpreter *self, const struct operation *operation);
struct value *render_merge_deep(struct interpreter *self, const struct operation *operation);

/* What they share. */

/* Raise a TemplateError; NULL. */
struct value *operator_fail(struct interpreter *self, const char *message);

/* What a part that vanishes renders to. */
struct value *delete_marker(struct interpreter *self);

/* Render, or evaluate, with some more variables. */
struct value *render_within(struct interpreter *self, struct scope *scope, const struct node *node);
struct value *evaluate_within(struct interpreter *self, struct scope *scope,
                              const struct expression *expression);

/* Render the operand, which must be of that kind, or the message is raised. */
struct value *render_operand(struct interpreter *self, const struct operation *operation,
                             enum value_kind kind, const char *message);

#endif
