/* request/dlworkspace/draft.h - the draft of DLWorkspace's second job format: user, and job with roles
 *
 * Source: docs/Jobs/spec.md of microsoft/DLWorkspace.  docs/dlworkspace.md lists how each field is
 * mapped.
 */
#ifndef REQUEST_DLWORKSPACE_DRAFT_H
#define REQUEST_DLWORKSPACE_DRAFT_H

#include "request/description.h"
#include "request/problems.h"

/* Does the file have a map `job` with `roles`? */
bool dlworkspace_draft_recognise(const struct value *root);

/* NULL after a problem. */
struct description *dlworkspace_draft_read(struct reading *reading, const struct value *root);

#endif
