/* request/arguments.h - a program's arguments and environment */
#ifndef REQUEST_ARGUMENTS_H
#define REQUEST_ARGUMENTS_H

#include "request/fields.h"

/* struct text *: a list of at least `least` words, the number of which goes to `count_offset`;
 * each is a text, a number as it is written, or a boolean. */
field_reader read_words;
/* Read a scalar that can be passed to a process: a text, a number as it is written, or a boolean.
 * `extra` is the number of bytes before it in the same string, for the limit on its length.  False
 * after a problem. */
bool arguments_read_text(struct reading *reading, const struct value_path *path,
                         const struct value *value, size_t extra, struct text *text);
/* Add a problem unless the member's key is a name that a user's environment variable may have. */
void arguments_check_variable(struct reading *reading, const struct value_path *path,
                              const struct member *member);
/* struct environment: a map of names to texts, numbers or booleans. */
field_reader read_environment;

#endif
