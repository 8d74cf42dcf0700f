/* renderer/jsone/compiled.h - what a template's tree is compiled to
 *
 * Internal to the template language.  Parts without anything to render are constants, shared by
 * every result; for the rest, expressions are parsed and operators found and checked.  All of it
 * lives in the arena given to template_compile() and is never changed afterwards.
 */
#ifndef RENDERER_JSONE_COMPILED_H
#define RENDERER_JSONE_COMPILED_H

#include "base/error.h"
#include "base/value.h"
#include "renderer/jsone/expression.h"

struct interpreter;
struct operation;

/* What is wrong with a part; raised when the part is rendered. */
struct fault {
    const char *kind; /* TEMPLATE_ERROR, ... */
    const char *message;
};

/* "a ${b} c": literals and, after each but the last, an expression. */
struct segment {
    struct text literal;
    const struct expression *expression; /* NULL in the last */
};

struct interpolation {
    const struct segment *segments;
    size_t count;
};

enum node_kind { NODE_CONSTANT, NODE_STRING, NODE_LIST, NODE_OBJECT, NODE_OPERATION, NODE_FAULT };

struct node_member {
    struct text written;                       /* the key as it stands in the template */
    struct text key;                           /* as it stands in the result, if it is a constant */
    const struct interpolation *interpolation; /* or else */
    bool reserved;                             /* `$word`: an error, unless the value vanishes */
    const struct node *value;
    uint32_t line, column; /* of the key */
};

struct node {
    enum node_kind kind;
    uint32_t line, column;
    union {
        struct value *constant;
        struct interpolation string;
        struct {
            const struct node **items;
            size_t count;
        } list;
        struct {
            struct node_member *members;
            size_t count;
        } object;
        const struct operation *operation;
        struct fault fault;
    };
};

/* A key of $switch or $match and what it stands for. */
struct condition {
    const struct expression *expression;
    const struct node *value;
};

/* An object with an operator. */
struct operation {
    const struct operator_rule *rule;
    const struct node *operand;          /* ROLE_TEMPLATE, ROLE_OBJECT */
    const struct expression *expression; /* ROLE_EXPRESSION */
    const struct condition *conditions;  /* ROLE_CONDITIONS, in the order of their keys */
    size_t condition_count;
    const struct node *otherwise; /* `$default` */
    const struct node *others[2]; /* of rule->keys; NULL when absent */
    const struct value *raw;      /* the one that is not rendered (`initial`) */
    const struct node *each;
    const struct expression *each_expression; /* where rule->each_is_expression */
    struct text names[3];                     /* of each(...) and by(...) */
    size_t name_count;
    struct fault late;  /* raised once the operand was rendered; message NULL: none */
    bool misspelt_then; /* `$then` beside `$if` */
};

/* What stands behind an operator. */
enum operand_role {
    ROLE_TEMPLATE,   /* anything, rendered */
    ROLE_OBJECT,     /* an object, rendered */
    ROLE_EXPRESSION, /* a string, evaluated */
    ROLE_CONDITIONS  /* an object whose keys are expressions */
};

struct operator_rule {
    const char *name; /* with its $ */
    enum operand_role role;
    const char *wrong_operand; /* the message when the operand does not fit its role */
    const char *keys[2];       /* other keys it may have; NULL ends them */
    const char *raw_key;       /* one more whose value is taken as it is, or NULL */
    const char *each;          /* "each" or "by": a key each(a,b,...); or NULL */
    size_t least_names, most_names;
    bool each_is_expression;
    const char *wrong_count; /* the message unless there is one each(...); NULL: none needed */
    struct value *(*render)(struct interpreter *self, const struct operation *operation);
};

struct template
{
    struct arena *arena;
    const char *name;
    const struct node *root;
    bool faulty;
    struct error fault; /* the first one, as template_check() gives it */
};

#endif
