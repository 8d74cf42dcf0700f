/* request/dlworkspace/draft.h - the draft of DLWorkspace's second job format: user, and job with roles
 *
 * Source: docs/Jobs/spec.md of microsoft/DLWorkspace.  docs/dlworkspace.md lists what becomes what.
 */
#ifndef REQUEST_DLWORKSPACE_DRAFT_H
#define REQUEST_DLWORKSPACE_DRAFT_H

#include "request/description.h"
#include "request/problems.h"

/* Has the file a map `job` that has `roles`? */
bool dlworkspace_draft_recognise(const struct value *root);

/* NULL after a problem. */
struct description *dlworkspace_draft_read(struct reading *reading, const struct value *root);

#endif
