/* request/values.h - the kinds of values that fields have, each with its reader
 *
 * Each is a field_reader (request/fields.h); the comment says what `into` points to and what the
 * field's `least` and `most` count.  Texts that are stored are valid UTF-8 without NUL.
 */
#ifndef REQUEST_VALUES_H
#define REQUEST_VALUES_H

#include "base/clock.h"
#include "request/description.h"
#include "request/fields.h"

/* struct text: ASCII letters, digits, `.`, `_` and `-`, the first a letter or a digit; at most
 * `most` bytes.  A number is taken as it is written (a name of 2024, a version of 1.10). */
field_reader read_word;
/* struct text: a version: as a word, and `+` too (2.1.0+cu118). */
field_reader read_version;
/* The libraries that a job file can name; NULL ends it. */
const char *const *request_libraries(void);

/* struct text: one of the known libraries, or job types. */
field_reader read_library, read_type;
/* struct text: an absolute path below /, or a relative one that stays below where it starts.
 * Stored without doubled and final slashes and `.` parts. */
field_reader read_absolute_path, read_relative_path;
/* struct text: an image reference as registries take it. */
field_reader read_image;
/* struct text: a program; at most `most` bytes. */
field_reader read_script;
/* int: a whole number from `least` to `most`. */
field_reader read_integer;
/* bool: true or false. */
field_reader read_boolean;
/* struct text: a DNS label. */
field_reader read_label;
/* int64_t: milliseconds up to `most`; false is 0. */
field_reader read_debug;
/* int64_t: bytes from `least` to `most`; thousandths of a processor; milliseconds. */
field_reader read_bytes, read_cpus, read_duration;
#define DURATION_MOST (3650 * CLOCK_DAY) /* ten years */

/* struct text *: a list of at least `least` words, the number of which goes to `count_offset`;
 * each is a text, a number as it is written, or a boolean. */
field_reader read_words;
/* A scalar that a process can be handed: a text, a number as it is written, or a boolean.  `extra`
 * bytes stand before it in the same string.  False after a problem. */
bool read_process_text(struct reading *reading, const struct value_path *path,
                       const struct value *value, size_t extra, struct text *text);
/* Is the member's key a name that an environment variable of the user's may have?  Adds the problem
 * when it is not. */
void check_variable_name(struct reading *reading, const struct value_path *path,
                         const struct member *member);
/* struct environment: a map of names to texts, numbers or booleans. */
field_reader read_environment;

/* The text of a scalar that may be written without quotes: a string, a number as it is written,
 * with `booleans` true or false.  False when it is none of these. */
bool take_scalar_text(const struct value *value, bool booleans, struct text *text);

/* Is it a word as read_word() has it, of at most `most` bytes? */
bool is_word(struct text text, size_t most);

#endif
