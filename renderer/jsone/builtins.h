/* renderer/jsone/builtins.h - the built-in functions on texts, for the table in builtins.c
 *
 * The arguments have been checked against the table.  Each returns a value, or NULL after raising
 * an error.
 */
#ifndef RENDERER_JSONE_BUILTINS_H
#define RENDERER_JSONE_BUILTINS_H

#include "renderer/jsone/interpreter.h"

struct value *builtin_lowercase(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_uppercase(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_str(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_number(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_len(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_strip(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_lstrip(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_rstrip(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_split(struct interpreter *self, struct value **arguments, size_t count);
struct value *builtin_join(struct interpreter *self, struct value **arguments, size_t count);

#endif
