/* request/relative.h - make paths in a job file absolute
 *
 * Paths in incoming/ must be absolute, because a job file there has lost its directory.  `dlspool
 * submit` and `dlspool render`, which read the file in its place, make `program`, `dataset` and
 * `output` absolute.  Only the bytes of these paths change, so line numbers stay the same.  Only
 * native job files in YAML are changed; a path that cannot be replaced with certainty stays, and
 * dialects_read() refuses it.
 */
#ifndef REQUEST_RELATIVE_H
#define REQUEST_RELATIVE_H

#include "base/arena.h"
#include "base/text.h"

/* `directory` is the absolute path of the file's directory.  Returns the new text in the arena, or
 * `source` itself when there is nothing to replace.  Appends a line `LINE: FIELD: WAS is NOW` to
 * `said` for each replacement, without a newline after the last. */
struct text relative_make_absolute(struct arena *arena, struct text source, const char *directory,
                                   struct buffer *said);

#endif
