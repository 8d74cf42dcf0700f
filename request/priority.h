/* request/priority.h - which jobs go first: priority */
#ifndef REQUEST_PRIORITY_H
#define REQUEST_PRIORITY_H

#include "request/fields.h"

/* Fills `priority`, `priority_class` and `has_priority` of a struct description: a whole number from `least` to `most`,
 * or the name of one of the site's classes. */
field_reader read_priority;

#endif
