/* renderer/jsone/render.h - render compiled templates
 *
 * Each function returns a value, the delete marker when the part is left out of the result, or NULL
 * after raising an error.
 */
#ifndef RENDERER_JSONE_RENDER_H
#define RENDERER_JSONE_RENDER_H

#include "renderer/jsone/compiled.h"
#include "renderer/jsone/interpreter.h"

struct value *render_node(struct interpreter *self, const struct node *node);

/* Render with additional variables. */
struct value *render_within(struct interpreter *self, struct scope *scope, const struct node *node);

/* Render the operand; raise the message unless it is of that kind. */
struct value *render_operand(struct interpreter *self, const struct operation *operation,
                             enum value_kind kind, const char *message);

/* What a part that is left out renders to; recognised by its address. */
struct value *render_delete_marker(struct interpreter *self);

/* Raise a fault that was found at compilation, or a TemplateError.  NULL. */
struct value *render_fault(struct interpreter *self, const struct fault *fault);
struct value *render_fail(struct interpreter *self, const char *message);

#endif
