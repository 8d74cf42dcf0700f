/* stages/shared/excerpt.h - the last lines of what a task printed, for people
 *
 * Terminals obey what is in them: colours and the like are left out, of a line that was written over
 * (a bar of progress) only what stood last is there, and other control characters are made visible.
 */
#ifndef STAGES_SHARED_EXCERPT_H
#define STAGES_SHARED_EXCERPT_H

#include "base/mask.h"
#include "base/text.h"

enum {
    EXCERPT_LINES = 5,
    EXCERPT_WIDTH = 200,
    EXCERPT_SIZE = EXCERPT_LINES * (EXCERPT_WIDTH + 16)
};

/* Append at most EXCERPT_LINES lines that are not empty, each of at most EXCERPT_WIDTH bytes, indented,
 * with line ends.  What is secret in them is hidden (base/mask.h); `mask` may be NULL. */
void excerpt_write(struct text printed, const struct mask *mask, struct buffer *out);

/* Append one such line whole, without an indent and a line end. */
void excerpt_line(struct text line, const struct mask *mask, struct buffer *out);

#endif
