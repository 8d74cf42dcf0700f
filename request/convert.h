/* request/convert.h - a job description as a job file of dlspool's own
 *
 * For job files of other systems whose owners move.  What the own form cannot say is noted, as what has no
 * effect is when such a file is read.
 */
#ifndef REQUEST_CONVERT_H
#define REQUEST_CONVERT_H

#include "request/description.h"

/* The fields of a job file, in the usual order; notes are added to job->notes.  Texts are shared. */
struct value *convert_description(struct arena *arena, struct description *job);

#endif
