/* renderer/jsone/render.h - compiled templates become values
 *
 * Each function gives a value; the delete marker when the part vanishes from the result; or NULL when
 * the reason why there is none was raised.
 */
#ifndef RENDERER_JSONE_RENDER_H
#define RENDERER_JSONE_RENDER_H

#include "renderer/jsone/compiled.h"
#include "renderer/jsone/interpreter.h"

struct value *render_node(struct interpreter *self, const struct node *node);

/* Render with some more variables. */
struct value *render_within(struct interpreter *self, struct scope *scope, const struct node *node);

/* Render the operand, which must be of that kind, or the message is raised. */
struct value *render_operand(struct interpreter *self, const struct operation *operation,
                             enum value_kind kind, const char *message);

/* What a part that vanishes renders to; known by its address. */
struct value *render_delete_marker(struct interpreter *self);

/* Raise a fault that was found at compilation, or a TemplateError.  NULL. */
struct value *render_fault(struct interpreter *self, const struct fault *fault);
struct value *render_fail(struct interpreter *self, const char *message);

#endif
