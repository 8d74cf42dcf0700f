/* request/complete.h - when a job of several roles has ended: complete{role: {failed, succeeded}} */
#ifndef REQUEST_COMPLETE_H
#define REQUEST_COMPLETE_H

#include "request/description.h"
#include "request/fields.h"

/* Read the map; `into` is description.complete, and `count_offset` complete_count. */
field_reader read_complete;

/* Are the roles there, and have they so many tasks?  For a job whose fields were read without a
 * problem. */
void complete_check(struct reading *reading, const struct value *root,
                    const struct description *job);

#endif
