/* request/field_tables.h - the tables of fields that name one another
 *
 * A field of a job that stands in a role, or the other way round, is refused with where it belongs.
 */
#ifndef REQUEST_FIELD_TABLES_H
#define REQUEST_FIELD_TABLES_H

#include "request/fields.h"

extern const struct field_table job_fields;  /* job.c */
extern const struct field_table task_fields; /* tasks.c */

#endif
