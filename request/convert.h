/* request/convert.h - write a job description as a native job file
 *
 * For users who move from another system.  A note tells what a native job file cannot express, like
 * the notes about fields without effect when such a file is read.
 */
#ifndef REQUEST_CONVERT_H
#define REQUEST_CONVERT_H

#include "request/description.h"

/* The fields of a job file, in the usual order.  Adds to job->notes; texts are shared. */
struct value *convert_description(struct arena *arena, struct description *job);

#endif
