/* request/field_tables.h - the tables of fields that refer to each other
 *
 * The refusal of a job's field in a role, or of a role's field in a job, says where it belongs.
 */
#ifndef REQUEST_FIELD_TABLES_H
#define REQUEST_FIELD_TABLES_H

#include "request/fields.h"

extern const struct field_table job_fields;  /* job.c */
extern const struct field_table task_fields; /* tasks.c */

#endif
