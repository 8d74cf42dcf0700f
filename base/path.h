/* base/path.h - paths as text: nothing here looks at a file system */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/arena.h"

/* Has the path a part that is ".."? */
bool path_climbs(struct text path);

/* Has it no part that is "." or ".."? */
bool path_is_plain(struct text path);

/* The path with single slashes, without empty and "." parts, and with none at the end; in the arena.
 * False when a part is "..", or when nothing is left. */
bool path_clean(struct arena *arena, struct text path, struct text *clean);

/* Is the path `root` itself or below it?  Both are clean, or `root` ends with slashes. */
bool path_is_below(struct text path, struct text root);

#endif
