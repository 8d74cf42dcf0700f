/* base/utf8.h - well-formed UTF-8, and its code points */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdint.h>

#include "base/text.h"

/* The length in bytes of the UTF-8 sequence that starts at `bytes` (1 to 4), or 0 when what
 * stands there is not well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
size_t utf8_sequence(const char *bytes, size_t length);
bool utf8_valid(struct text a);
/* The code point of a well-formed sequence that utf8_sequence() found to be `length` bytes. */
uint32_t utf8_code_point(const char *bytes, size_t length);
/* Write a code point that is no surrogate, and at most U+10FFFF.  The length of its sequence. */
size_t utf8_write(char to[static 4], uint32_t point);
/* Does a well-formed sequence of `length` bytes change what others look like?  Beyond ASCII these are the
 * second set of control characters, of ISO 6429 (U+009B is escape and [ in one), other ends of lines, and
 * those that turn the order of what is written (Unicode UAX #9). */
bool utf8_misleads(const char *bytes, size_t length);

#endif
