/* executors/local/numbers.h - a number for each container, until its job is forgotten
 *
 * Kept in memory only, in a table (base/names.h) of int64_t under the containers' names; NULL while it is empty.
 */
#ifndef EXECUTORS_LOCAL_NUMBERS_H
#define EXECUTORS_LOCAL_NUMBERS_H

#include <stdint.h>

#include "base/names.h"

/* The container's number, 0 if it had none.  Valid until its job is forgotten, or another container is added:
 * when there are too many, all are forgotten. */
int64_t *local_numbers_at(struct names **numbers, struct text container);

/* Forget the numbers of a job's containers. */
void local_numbers_forget(struct names *numbers, const char *id, int attempt);

#endif
