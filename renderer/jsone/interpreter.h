/* renderer/jsone/interpreter.h - the state of one rendering, shared by the files that carry it out
 *
 * Internal to the template language; its interface is template.h.  One interpreter lives for one
 * call of template_render(); nothing is kept elsewhere.
 *
 * A function here that can fail returns NULL or false after interpreter_raise() has set the
 * sentence; then the rendering is over, and every caller returns at once.  So scope, place and
 * depth need not be restored after a failure.
 *
 * Bounds.  Every value, operator and expression visited costs a step, and work in proportion to the
 * length of texts, lists and objects costs steps in proportion.  Where data decides how much memory
 * is allocated, interpreter_may_take() is called first.  Values can be built deeper than they were
 * nested, and share parts, so every walk over values counts depth and steps too.
 */
#ifndef RENDERER_JSONE_INTERPRETER_H
#define RENDERER_JSONE_INTERPRETER_H

#include "renderer/jsone/expression.h"
#include "renderer/jsone/rendering.h"

/* Where in a template we are, for "at template.spec[0]": from the inside out. */
struct place {
    const struct place *outer;
    struct text key; /* data NULL: an index */
    size_t index;
};

/* Variables.  The innermost scope is looked at first, and in it the last name. */
struct scope {
    const struct scope *outer;
    const struct value *object; /* members are variables; or NULL */
    const struct text *names;
    struct value *values[3];
    size_t count;
};

struct interpreter {
    const struct rendering *rendering;
    const struct template *template; /* being rendered: an included one while it is */
    struct arena *arena;
    struct error *error;
    struct template_limits limits;
    size_t steps;       /* left */
    size_t used_before; /* bytes of the arena when the rendering began */
    size_t depth, includes;
    const struct scope *scope;
    const struct place *place;
    uint32_t line, column; /* of what is being rendered */
    struct value *null, *yes, *no, *now;
    struct value **functions;          /* of the rendering, as values; NULL until one is wanted */
    const struct value *delete_marker; /* what a part that vanishes renders to */
};

/* Kinds of failure, as JSON-e calls them; the last is ours. */
#define SYNTAX_ERROR "SyntaxError"
#define INTERPRETER_ERROR "InterpreterError"
#define TEMPLATE_ERROR "TemplateError"
#define BUILTIN_ERROR "BuiltinError"
#define LIMIT_ERROR "LimitError"

/* Set the sentence "<name>:<line>:<column>: <kind> at template<place>: ...".  Returns NULL. */
struct value *interpreter_raise(struct interpreter *self, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Format that sentence from its parts, without an interpreter; name and place may be NULL. */
void interpreter_sentence(struct error *error, const char *name, uint32_t line, uint32_t column,
                          const struct place *place, const char *kind, const char *message);

bool interpreter_steps(struct interpreter *self, size_t steps);    /* take so many */
bool interpreter_bytes(struct interpreter *self, size_t bytes);    /* for so many bytes read */
bool interpreter_may_take(struct interpreter *self, size_t bytes); /* may so many be taken? */
bool interpreter_enter(struct interpreter *self); /* one level deeper; self->depth-- leaves */

/* New values.  All but the first three cost room and may fail. */
struct value *interpreter_null(struct interpreter *self);
struct value *interpreter_boolean(struct interpreter *self, bool boolean);
struct value *interpreter_number(struct interpreter *self, double number);
struct value *interpreter_text(struct interpreter *self, const char *bytes,
                               size_t length); /* a copy */
struct value *interpreter_list(struct interpreter *self, size_t capacity);
struct value *interpreter_object(struct interpreter *self, size_t capacity);

/* Variables, functions and `now`, by name; NULL when there is none (nothing is raised). */
struct value *interpreter_find(struct interpreter *self, struct text name);

/* Everything but null, false, 0, "", [] and {} is. */
bool interpreter_is_truthy(const struct value *value);
bool interpreter_is_whole(double number);

/* Deep equality in *equal; false when a limit was hit. */
bool interpreter_equal(struct interpreter *self, const struct value *a, const struct value *b,
                       bool *equal);

/* How large a value is when it is written out, shared parts as often as they occur. */
struct extent {
    size_t bytes;
    bool functions; /* there is a function in it */
};
bool interpreter_measure(struct interpreter *self, const struct value *value,
                         struct extent *extent);

/* A value for a sentence, as JavaScript would turn it into a string; cut when long. */
struct text interpreter_describe(struct interpreter *self, const struct value *value);

/* Call a function value. */
struct value *interpreter_call(struct interpreter *self, const struct function *function,
                               struct value **arguments, size_t count);

/* What a function value points to: a built-in function, or one of the rendering's. */
struct builtin;
struct function {
    const struct builtin *builtin;
    const struct template_function *given;
};

/* The built-in function of that name as a value, or NULL. */
struct value *interpreter_find_builtin(struct interpreter *self, struct text name);

/* The text of a string, number, boolean or null (which has none) in *text; false at a limit. */
bool interpreter_scalar_text(struct interpreter *self, const struct value *value,
                             struct text *text);

#endif
