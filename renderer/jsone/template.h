/* renderer/jsone/template.h - JSON-e templates: a tree and a context in, a tree out
 *
 * A template is a value tree.  It is compiled once (expressions and interpolated strings are
 * parsed) and rendered as often as wanted.  Rendering never touches files, the network, or the
 * clock (the time is given), and ends in bounded time and memory whatever the context holds.
 *
 * Specification: JSON-e 4.8, https://json-e.js.org.  One addition, `$include: path`, is an
 * operator whose operand is another template's path; the caller says what a path stands for.
 */
#ifndef RENDERER_JSONE_TEMPLATE_H
#define RENDERER_JSONE_TEMPLATE_H

#include "base/error.h"
#include "base/value.h"
#include "renderer/jsone/rendering.h"

/* Compile.  `name` is the template's path for sentences.  The tree must outlive the template.
 * Syntax errors are found here where JSON-e allows it: a template whose faulty part is never
 * evaluated renders in JSON-e, so faults are kept and reported by rendering, and by
 * template_check(), with line and column. */
struct template *template_compile(struct arena *arena, const struct value *tree, const char *name);

/* The first fault found at compilation, anywhere in the template: -1 and a sentence, or 0. */
int template_check(const struct template *template, struct error *error);

/* The rendered tree, or NULL and a sentence: "<name>:<line>:<column>: <JSON-e's own message>". */
struct value *template_render(const struct template *template, const struct rendering *rendering,
                              struct error *error);

#endif
