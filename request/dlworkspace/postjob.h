/* request/dlworkspace/postjob.h - the parameters of DLWorkspace's PostJob, as a job file
 *
 * So that a site can move: what its users posted becomes a job of library any; docs/dlworkspace.md
 * lists what becomes what.  Source: docs/Users/RestfulAPI/submit_job.md, src/utils/
 * JobRestAPIUtils.py and src/RestAPI/dlwsrestapi.py of microsoft/DLWorkspace.  Numbers and truth
 * values may be texts, as in a form.  What is accepted and has no effect is said in a note.
 */
#ifndef REQUEST_DLWORKSPACE_POSTJOB_H
#define REQUEST_DLWORKSPACE_POSTJOB_H

#include "request/description.h"
#include "request/problems.h"

/* Has the file jobName, and jobtrainingtype or cmd? */
bool dlworkspace_postjob_recognise(const struct value *root);

/* NULL after a problem. */
struct description *dlworkspace_postjob_read(struct reading *reading, const struct value *root);

#endif
