/* request/after.h - the field `after`: jobs that must end before this one begins
 *
 * A condition is a word; all conditions of a list must hold:
 *
 *   prepare                     the job of that name or id must succeed
 *   afterok:prepare             the same
 *   afterany:prepare            it must end, successfully or not
 *   afternotok:prepare          it must fail
 *   after:prepare               it must begin
 *   singleton                   the owner's earlier jobs of this job's name must end
 *   afterok:a:b,afterany:c      several jobs in a condition, and several conditions, as in Slurm
 *
 * Or a map from conditions to jobs: {afterok: [a, b], afterany: c}.
 *
 * Names are not resolved to jobs here.
 */
#ifndef REQUEST_AFTER_H
#define REQUEST_AFTER_H

#include "request/description.h"
#include "request/fields.h"

enum { AFTER_MOST = 256 }; /* conditions */

/* `into` is description.after; duplicate conditions are dropped. */
field_reader read_after;

/* The word for a condition: "afterok", ... */
const char *after_condition_name(enum condition condition);
bool after_condition_find(struct text word, enum condition *condition);

#endif
