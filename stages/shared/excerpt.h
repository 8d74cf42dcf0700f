/* stages/shared/excerpt.h - the last lines of what a task printed, for people
 *
 * The lines may contain terminal control sequences: colours and the like are removed, of a line
 * that was overwritten (a progress bar) only the last text is kept, and other control characters
 * are made visible.
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

/* Append at most EXCERPT_LINES lines that are not empty, each of at most EXCERPT_WIDTH bytes,
 * indented, with line ends.  Secrets in them are masked (base/mask.h); `mask` may be NULL. */
void excerpt_write(struct text printed, const struct mask *mask, struct buffer *out);

/* Append one such line whole, without indent or line end. */
void excerpt_line(struct text line, const struct mask *mask, struct buffer *out);

#endif
