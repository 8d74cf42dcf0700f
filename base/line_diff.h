/* base/line_diff.h - two texts compared line by line, as `diff -u` shows it (by libgit2) */
#ifndef BASE_LINE_DIFF_H
#define BASE_LINE_DIFF_H

#include "base/error.h"
#include "base/text.h"

/* Append the unified diff of two texts, with these names in its first two lines; nothing when they
 * are the same.  The texts may hold any bytes.  Returns 1 when they differ, 0 when they are the same,
 * -1 when libgit2 cannot tell. */
int line_diff(struct buffer *out, struct text before, const char *before_name, struct text after,
              const char *after_name, struct error *error);

#endif
