/* stages/prepare/without_effect.h - fields of a job that its template does not read
 *
 * Templates are the site's, and may be older than dlspool.  The owner is told of each field that has no effect for that
 * reason; a job that would run on nodes other than those it needs is refused.
 */
#ifndef STAGES_PREPARE_WITHOUT_EFFECT_H
#define STAGES_PREPARE_WITHOUT_EFFECT_H

#include "renderer/manifest.h"
#include "request/description.h"

/* Add notes about the fields of `rendered->unread` that have none yet.  -1 and a sentence when the job is refused. */
int without_effect_tell(struct arena *arena, const char *executor,
                        const struct description *description, const struct render_result *rendered,
                        struct notes *notes, struct error *error);

#endif
