/* request/deadline.h - when a job must be finished: deadline, deadline_mode, weight
 *
 * A deadline is a time with a zone, 2026-05-01T18:00Z (seconds are optional), or `+` and a duration
 * from the moment at which the job file was accepted, +6h.
 */
#ifndef REQUEST_DEADLINE_H
#define REQUEST_DEADLINE_H

#include "request/description.h"
#include "request/fields.h"

field_reader read_deadline;      /* struct deadline */
field_reader read_deadline_mode; /* struct text: count, firm or none */
field_reader read_weight;        /* double */

/* Read a time as clock_parse() does; the seconds may be left out: 2026-05-01T18:00Z. */
bool deadline_take_time(struct text text, int64_t *time);

/* Check that mode and weight come with a deadline.  Sets the mode when it was not given. */
void deadline_check(struct reading *reading, const struct value *root, struct description *job);

#endif
