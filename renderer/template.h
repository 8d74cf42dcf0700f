/* renderer/template.h - JSON-e templates: a tree and a context in, a tree out
 *
 * A template is a value tree.  It is compiled once (expressions and interpolated strings are
 * parsed) and rendered as often as wanted.  Rendering never touches files, the network, or the
 * clock (the time is given), and ends in bounded time and memory whatever the context holds.
 *
 * Specification: JSON-e 4.8, https://json-e.js.org.  One addition, `$include: path`, is an
 * operator whose operand is another template's path; the caller says what a path stands for.
 */
#ifndef RENDERER_TEMPLATE_H
#define RENDERER_TEMPLATE_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

struct template;                /* compiled; lives in the arena it was compiled into */

/* Find the template that `$include: path` names: a compiled template that outlives the rendering,
 * or NULL and a sentence.  `path` is a constant or rendered string. */
typedef const struct template *template_include(void *context, struct text path,
                                                struct error *error);

/* A function that templates may call, beside the built-in ones. */
struct template_function {
    const char *name;
    /* Returns NULL and a sentence on failure. */
    struct value *(*call)(struct arena *arena, struct value **arguments, size_t count,
                          struct error *error);
};

struct template_limits {
    size_t steps;               /* values and operators visited */
    size_t bytes;               /* memory handed out for results */
    size_t depth;               /* nesting of templates, includes and expressions */
};

extern const struct template_limits template_default_limits;

/* Compile.  `name` is the template's path for sentences.  The tree must outlive the template.
 * Syntax errors are found here where JSON-e allows it: a template whose faulty part is never
 * evaluated renders in JSON-e, so faults are kept and reported by rendering, and by
 * template_check(), with line and column. */
struct template *template_compile(struct arena *arena, const struct value *tree, const char *name);

/* The first fault found at compilation, anywhere in the template: -1 and a sentence, or 0. */
int template_check(const struct template *template, struct error *error);

struct rendering {
    struct arena *arena;                /* the result and everything on the way live here */
    const struct value *context;        /* an object; each key must be an identifier */
    const struct template_function *functions;  /* ended by a NULL name; may be NULL */
    template_include *include;          /* may be NULL: then $include is an error */
    void *include_context;
    int64_t now;                        /* the time `now` gives, milliseconds since 1970 */
    const struct template_limits *limits;       /* NULL: the default ones */
};

/* The rendered tree, or NULL and a sentence: "<name>:<line>:<column>: <JSON-e's own message>". */
struct value *template_render(const struct template *template, const struct rendering *rendering,
                              struct error *error);

#endif
