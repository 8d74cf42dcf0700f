/* request/size.h - which sizes a job can have: size{min, max, step}
 *
 * The job's type decides what is counted: tasks of the one role for elastic and distributed; for
 * single the GPUs if it asks for any, otherwise the processors.
 */
#ifndef REQUEST_SIZE_H
#define REQUEST_SIZE_H

#include "request/description.h"
#include "request/fields.h"

/* Checks only the names of the members; request_size_check() checks their values when all fields
 * are known. */
field_reader read_size;

/* Check the size against the job's type, tasks and checkpoint.  Sets what was not given. */
void request_size_check(struct reading *reading, const struct value *root, struct description *job);

#endif
