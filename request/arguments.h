/* request/arguments.h - what a program is given: its arguments and its environment */
#ifndef REQUEST_ARGUMENTS_H
#define REQUEST_ARGUMENTS_H

#include "request/fields.h"

/* struct text *: a list of at least `least` words, the number of which goes to `count_offset`;
 * each is a text, a number as it is written, or a boolean. */
field_reader read_words;
/* A scalar that a process can be handed: a text, a number as it is written, or a boolean.  `extra`
 * bytes stand before it in the same string.  False after a problem. */
bool arguments_read_text(struct reading *reading, const struct value_path *path,
                         const struct value *value, size_t extra, struct text *text);
/* Is the member's key a name that an environment variable of the user's may have?  Adds the problem
 * when it is not. */
void arguments_check_variable(struct reading *reading, const struct value_path *path,
                              const struct member *member);
/* struct environment: a map of names to texts, numbers or booleans. */
field_reader read_environment;

#endif
