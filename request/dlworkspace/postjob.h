/* request/dlworkspace/postjob.h - the parameters of DLWorkspace's PostJob, as a job file
 *
 * For sites that move from DLWorkspace: a posted job becomes a job of library any;
 * docs/dlworkspace.md lists how each field is mapped.  Source: docs/Users/RestfulAPI/submit_job.md,
 * src/utils/ JobRestAPIUtils.py and src/RestAPI/dlwsrestapi.py of microsoft/DLWorkspace.  Numbers
 * and booleans may be texts, as in a form.  Fields that are accepted without effect get a note.
 */
#ifndef REQUEST_DLWORKSPACE_POSTJOB_H
#define REQUEST_DLWORKSPACE_POSTJOB_H

#include "request/description.h"
#include "request/problems.h"

/* Does the file have jobName, and jobtrainingtype or cmd? */
bool dlworkspace_postjob_recognise(const struct value *root);

/* NULL after a problem. */
struct description *dlworkspace_postjob_read(struct reading *reading, const struct value *root);

#endif
