/* request/job.h - the fields of a job, as native YAML, JSON and batch scripts give them */
#ifndef REQUEST_JOB_H
#define REQUEST_JOB_H

#include "request/description.h"
#include "request/fields.h"

/* Read a tree of the job file's fields.  NULL after a problem. */
struct description *request_job_read(struct reading *reading, const struct value *root);

#endif
