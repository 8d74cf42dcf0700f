/* base/json_string.h - one string of JSON text */
#ifndef BASE_JSON_STRING_H
#define BASE_JSON_STRING_H

#include "base/arena.h"

/* Read the string that begins at `at`, with a quotation mark, into the arena.  The byte after it, or NULL when it is
 * not well-formed.  *inside becomes the number of its bytes in the text that begin no character. */
const char *json_string_read(struct arena *arena, const char *at, const char *end, struct text *out,
                             size_t *inside);

#endif
