/* base/line_diff.h - two texts compared line by line, as `diff -u` shows it
 *
 * The shortest list of changed lines where there are up to LINE_DIFF_SHORTEST of them (Myers,
 * 1986); where there are more, a list that is right but may be longer than need be.  Time is
 * proportional to the number of lines times that bound at most, and memory to the number of lines
 * and the bound's square.
 */
#ifndef BASE_LINE_DIFF_H
#define BASE_LINE_DIFF_H

#include "base/text.h"

enum {
    LINE_DIFF_SHORTEST = 256, /* lines removed and added */
    LINE_DIFF_CONTEXT = 3     /* lines that are the same, around each change */
};

/* Append the unified diff of two texts, with these names in its first two lines; nothing when they
 * are the same.  Returns whether they differ.  The texts may hold any bytes. */
bool line_diff(struct buffer *out, struct text before, const char *before_name, struct text after,
               const char *after_name);

#endif
