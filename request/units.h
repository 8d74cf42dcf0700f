/* request/units.h - how a job's progress is counted: units{total, pattern} or units{total, file}
 *
 *   {total: 400, pattern: "step {done}/{total}"}
 *       in each line that the first task of the first role prints (job/pattern.h)
 *   {total: 400, file: /srv/results/x/progress}
 *       in a file below the job's output, which holds what is done: 12, 12/400, or
 *       {"done": 12, "total": 400}
 *
 * The total may be left out when the line or the file contains it.
 */
#ifndef REQUEST_UNITS_H
#define REQUEST_UNITS_H

#include "request/description.h"
#include "request/fields.h"

field_reader read_units; /* struct units */

/* Check that there is exactly one way to count, that the file is below the job's output, and that
 * the job's type has a single progress. */
void request_units_check(struct reading *reading, const struct value *root,
                         const struct description *job);

#endif
