/* request/begin.h - when a job begins at the earliest: begin
 *
 * A time with its zone, 2026-05-01T18:00Z; or in the zone of the machine that dlspool runs on: a
 * day and a time, 2026-05-01T18:00, a day, from its first minute, and 22:00, the next time that it
 * is that late; or `+` and a duration from the moment at which the job file was accepted, +6h.
 * `now` is at once.
 */
#ifndef REQUEST_BEGIN_H
#define REQUEST_BEGIN_H

#include "request/description.h"
#include "request/fields.h"

field_reader read_begin; /* struct begin */

#endif
