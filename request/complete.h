/* request/complete.h - when a job of several roles ends: complete{role: {failed, succeeded}} */
#ifndef REQUEST_COMPLETE_H
#define REQUEST_COMPLETE_H

#include "request/description.h"
#include "request/fields.h"

/* Read the map; `into` is description.complete, and `count_offset` complete_count. */
field_reader read_complete;

/* Check that the roles exist and have at least as many tasks.  Call it only when the fields were
 * read without a problem. */
void complete_check(struct reading *reading, const struct value *root,
                    const struct description *job);

#endif
