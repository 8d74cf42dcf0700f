/* request/size.h - which sizes a job can have: size{min, max, step}
 *
 * What is counted follows from the job: of the types elastic and distributed the tasks of the one
 * role; of the type single the GPUs, if it asks for any, and else the processors.
 */
#ifndef REQUEST_SIZE_H
#define REQUEST_SIZE_H

#include "request/description.h"
#include "request/fields.h"

/* Looks at the names of the members only: what they may be is known when all fields are. */
field_reader read_size;

/* Does the size go with the job's type, its tasks and its checkpoint?  Sets what was not given. */
void request_size_check(struct reading *reading, const struct value *root, struct description *job);

#endif
