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
 * `most` bytes.  A number is kept as it is written (a name of 2024, a version of 1.10). */
field_reader read_word;
/* struct text: a version: a word that may also contain `+` (2.1.0+cu118). */
field_reader read_version;
/* struct text: an absolute path below /, or a relative one that stays below where it starts.
 * Stored without double slashes, trailing slashes and `.` parts. */
field_reader read_absolute_path, read_relative_path;
/* struct text: an image reference as registries accept it. */
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

/* The text of a scalar that may be written without quotes: a string, a number as it is written or,
 * if `booleans`, true or false.  False for any other value. */
bool values_scalar_text(const struct value *value, bool booleans, struct text *text);

/* Is it a word as read_word() has it, of at most `most` bytes? */
bool values_is_word(struct text text, size_t most);

#endif
