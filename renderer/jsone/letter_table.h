/* renderer/jsone/letter_table.h - upper and lower case of each letter
 *
 * letter_table.c is made by `tools/letters UnicodeData.txt SpecialCasing.txt`, without the rules that
 * depend on a language.  The C library's tables are not used, as they depend on locale files, which a
 * process in a sandbox may not be able to read.
 */
#ifndef RENDERER_JSONE_LETTER_TABLE_H
#define RENDERER_JSONE_LETTER_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Code points first, first + stride, ... last change by `shift`. */
struct letter_range {
    uint32_t first, last;
    uint32_t stride;
    int32_t shift;
};

/* A code point that becomes several in upper case. */
struct letter_expansion {
    uint32_t point;
    const char *upper;
};

/* In the order of code points. */
extern const struct letter_range letter_to_upper[], letter_to_lower[];
extern const struct letter_expansion letter_expansions[];
extern const size_t letter_to_upper_count, letter_to_lower_count, letter_expansions_count;

#endif
