/* request/known_words.h - fields that take one of a few words: library and type */
#ifndef REQUEST_KNOWN_WORDS_H
#define REQUEST_KNOWN_WORDS_H

#include "request/fields.h"

/* struct text: one of the known libraries, or job types. */
field_reader read_library, read_type;

/* The libraries that a job file can name; ends with NULL. */
const char *const *known_words_libraries(void);

#endif
