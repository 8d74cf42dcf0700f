/* renderer/jsone/rendering.h - what one rendering is given (template.h): context, functions, clock,
 * limits */
#ifndef RENDERER_JSONE_RENDERING_H
#define RENDERER_JSONE_RENDERING_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

struct template; /* compiled; lives in the arena it was compiled into */

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
    size_t steps; /* values and operators visited */
    size_t bytes; /* memory handed out for results */
    size_t depth; /* nesting of templates, includes and expressions */
};

extern const struct template_limits template_default_limits;

/* A member of an object of the context, of which the caller wants to know whether the template reads it: an expression
 * takes it out of its object, or uses the object whole, by its name. */
struct watched_value {
    const struct value *object, *value;
    bool read;
};

struct rendering {
    struct arena *arena;                       /* the result and everything on the way live here */
    const struct value *context;               /* an object; each key must be an identifier */
    const struct template_function *functions; /* ended by a NULL name; may be NULL */
    template_include *include;                 /* may be NULL: then $include is an error */
    void *include_context;
    int64_t now;                          /* the time `now` gives, milliseconds since 1970 */
    const struct template_limits *limits; /* NULL: the default ones */
    struct watched_value *watched;
    size_t watched_count;
};

#endif
