/* request/after.h - dependencies: after, the jobs that have to come to an end before this one begins
 *
 * A condition is a word, and a list of them holds when all of them do:
 *
 *   prepare                     the job of that name or id must succeed
 *   afterok:prepare             the same
 *   afterany:prepare            it has to end, well or not
 *   afternotok:prepare          it has to fail
 *   afterok:a:b,afterany:c      several jobs of a condition, and several conditions, as Slurm has it
 *
 * Or a map, of conditions to jobs: {afterok: [a, b], afterany: c}.
 *
 * Which job is meant by a name is not known here.
 */
#ifndef REQUEST_AFTER_H
#define REQUEST_AFTER_H

#include "request/description.h"
#include "request/fields.h"

enum { AFTER_MOST = 256 }; /* conditions */

/* `into` is description.after; each condition is there once. */
field_reader read_after;

/* The words of conditions: "afterok", "afterany", "afternotok". */
const char *after_condition_name(enum condition condition);
bool after_condition_find(struct text word, enum condition *condition);

#endif
