/* request/array.h - sweeps: array, the tasks of a job that differ by an index or by values
 *
 * The forms; those that are not a map may end in %8, for at most 8 tasks at once:
 *
 *   10                          the indexes 0 to 9
 *   1,3,5-7,20-40:4             these indexes (base/ranges.h)
 *   {indexes: 0-99, at_once: 8} the same as 0-99%8
 *   {values: {LR: [0.1, 0.01], BATCH: [32, 64]}, at_once: 2}
 *                               every combination of the values; the last name varies fastest
 */
#ifndef REQUEST_ARRAY_H
#define REQUEST_ARRAY_H

#include "request/description.h"
#include "request/fields.h"

enum { ARRAY_MOST = 10000 }; /* indexes */

/* `into` is description.array. */
field_reader read_array;

/* Check the array against the job's type and tasks.  Sets the count of the job's one role. */
void array_check(struct reading *reading, const struct value *root, struct description *job);

#endif
