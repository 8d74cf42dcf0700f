/* request/size.h - how many tasks an elastic job may have: size{min, max} */
#ifndef REQUEST_SIZE_H
#define REQUEST_SIZE_H

#include "request/description.h"
#include "request/fields.h"

/* `into` is description.size_min, behind which size_max lies. */
field_reader read_size;

/* Does the size go with the job's type and tasks?  Sets what was not given. */
void check_size(struct reading *reading, const struct value *root, struct description *job);

#endif
