/* base/json_step.h - steps over parts of JSON text, without a look at what is in them
 *
 * `end` is the end of the text, at which all steps stop.  Of text that is not well-formed they pass more or
 * less than a reader would.
 */
#ifndef BASE_JSON_STEP_H
#define BASE_JSON_STEP_H

#include <stdbool.h>

#include "base/arena.h"

/* The byte after the string that begins at `at`; `end` when it does not end. */
const char *json_step_past_string(const char *at, const char *end);
/* The first byte from `at` on that is no white space. */
const char *json_step_past_space(const char *at, const char *end);
/* The byte after the value that begins at `at`; `at` when there is none. */
const char *json_step_past_value(const char *at, const char *end);

/* The text with `null` in place of the value of each member, at any depth, that has one of the names, the last of
 * which is followed by NULL.  What is not well-formed stays so, or is within what was stepped over.  In the arena, or
 * `source` itself. */
struct text json_step_without(struct arena *arena, struct text source, const char *const *names);

#endif
