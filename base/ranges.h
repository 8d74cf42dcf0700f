/* base/ranges.h - lists of whole numbers as people write them: 1,3,5-7,20-40:4
 *
 * Numbers, ranges, and ranges with a step, with commas between; the way Slurm writes the indexes of
 * a job array.
 */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include "base/arena.h"
#include "base/error.h"

enum { RANGES_LARGEST = 1000000000 }; /* a number in a list */

/* Parse a list.  *numbers, in the arena, are ascending and unique, whatever the order in the
 * list.  -1 and a sentence ("found ..., expected ...") when it is wrong, or has more than
 * `most`, which is at most RANGES_LARGEST. */
int ranges_parse(struct arena *arena, struct text list, size_t most, int **numbers, size_t *count,
                 struct error *error);

/* Append a list that reads back as the same.  `numbers` are ascending, each once. */
void ranges_format(struct buffer *out, const int *numbers, size_t count);

#endif
