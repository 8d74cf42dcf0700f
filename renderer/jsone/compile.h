/* renderer/jsone/compile.h - compile templates; and the state that compile.c and
 * compile_operation.c share */
#ifndef RENDERER_JSONE_COMPILE_H
#define RENDERER_JSONE_COMPILE_H

#include "renderer/jsone/compiled.h"

struct compiler {
    struct template *template;
    struct arena *arena;
    const struct place *place;
    uint32_t line, column; /* of what is being compiled */
    size_t depth;
};

/* Compile a tree into the template, whose arena and name are set. */
void compile_template(struct template *template, const struct value *tree);

/* Note a fault of what is being compiled; the first one is the template's. */
struct fault compile_fault(struct compiler *self, const char *kind, const char *message);

struct node *compile_new_node(struct compiler *self, enum node_kind kind);

/* A node that raises a TemplateError. */
const struct node *compile_faulty(struct compiler *self, const char *message);

const struct node *compile_value(struct compiler *self, const struct value *value);

/* An expression that stands at that place, of an operator or as a key. */
const struct expression *compile_expression(struct compiler *self, struct text source,
                                            uint32_t line, uint32_t column);

/* An object that has this operator. */
const struct node *compile_operation(struct compiler *self, const struct value *value,
                                     const struct operator_rule *rule);

#endif
