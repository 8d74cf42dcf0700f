/* renderer/jsone/expression.h - JSON-e expressions as trees
 *
 * An expression is parsed once.  A syntax error is stored and raised when the expression is
 * evaluated, because JSON-e ignores expressions that it does not reach.
 *
 * Two surprises in JSON-e's grammar: a unary sign binds closer than `.`, `[` and `(`, so that
 * `!a.b` is `(!a).b` and `-a[0]` is `(-a)[0]`; and `in` binds looser than `==`.
 */
#ifndef RENDERER_JSONE_EXPRESSION_H
#define RENDERER_JSONE_EXPRESSION_H

#include "base/value.h"
#include "renderer/jsone/token.h"

enum syntax_kind {
    SYNTAX_CONSTANT, /* constant */
    SYNTAX_NAME,     /* name */
    SYNTAX_UNARY,    /* sign, first */
    SYNTAX_CHAIN,    /* first, and terms: a + b - c; signs of one level, from the left */
    SYNTAX_TERM,     /* sign, first */
    SYNTAX_POWER,    /* first is the exponent and evaluated first, second the base */
    SYNTAX_LIST,     /* count, items */
    SYNTAX_OBJECT,   /* count, pairs */
    SYNTAX_PAIR,     /* name, first */
    SYNTAX_ACCESS,   /* first, and what is done to it in turn: a.b[0](c) */
    SYNTAX_PROPERTY, /* name */
    SYNTAX_INDEX,    /* first */
    SYNTAX_SLICE,    /* first and second, either may be NULL */
    SYNTAX_CALL,     /* count, arguments */
    SYNTAX_MISSING   /* an operand that is not there; only while parsing */
};

struct syntax {
    enum syntax_kind kind;
    enum token_kind sign;
    size_t count;
    struct text name;
    struct value *constant;
    struct syntax *first, *second;
    struct syntax *parts; /* terms, items, pairs, accesses or arguments */
    struct syntax *next;  /* in the list of parts that it belongs to */
};

struct expression {
    const struct syntax *tree; /* NULL when there is a fault */
    const char *fault;         /* what a SyntaxError says, or NULL */
    struct text source;        /* without what follows `}` */
    uint32_t line, column;     /* of the value that holds it; 0 when unknown */
};

enum { EXPRESSION_DEPTH = 200 }; /* levels of nesting that are parsed */

/* Parse the whole source.  Everything lives in the arena; the source's bytes are shared. */
struct expression *expression_parse(struct arena *arena, struct text source);

/* Parse an expression that ends at a `}` of its own: the inside of "${...}".  *end is set to the
 * offset of that `}`; it means nothing when there is a fault. */
struct expression *expression_parse_braced(struct arena *arena, struct text source, size_t *end);

#endif
