/* request/relative.h - paths of a job file that are relative to the file
 *
 * A job file in incoming/ has no directory that its paths could start from, so they are absolute there.
 * Who still has the file as its user wrote it (`dlspool submit`, `dlspool render`) may write `program`,
 * `dataset` and `output` out for them.  Only these bytes change: lines stay where they are.  Read are
 * dlspool's own job files in YAML; what cannot be replaced with certainty stays, and is refused by
 * dialects_read().
 */
#ifndef REQUEST_RELATIVE_H
#define REQUEST_RELATIVE_H

#include "base/arena.h"
#include "base/text.h"

/* `directory` is the absolute path of the one that the file is in.  The text in the arena, or `source`
 * itself where there is nothing to replace; appends to `said`, for each, a line `LINE: FIELD: WAS is NOW`
 * without a line end after the last. */
struct text relative_make_absolute(struct arena *arena, struct text source, const char *directory,
                                   struct buffer *said);

#endif
