/* web/posted_job.h - a job file that a user hands in over HTTP: checked, dropped, and what it has become
 *
 * It becomes a file in incoming/, which is the user's, as this process is; intake decides about it as about any other.
 */
#ifndef WEB_POSTED_JOB_H
#define WEB_POSTED_JOB_H

#include "client/view.h"
#include "web/exchange.h"

/* Is it a job file, and a good one?  False and a sentence when not. */
bool posted_job_check(struct exchange *exchange, struct text bytes, struct error *error);

/* Check the bytes of a job file and drop it, under a name with that ending, then ask again until it has become a job:
 * `found` is called with it, or with NULL when that took too long.  False and a sentence when it was refused. */
typedef void posted_job_found(struct exchange *exchange, const struct job_view *view);
bool posted_job_begin(struct exchange *exchange, struct text bytes, const char *ending,
                      posted_job_found *found, struct error *error);
/* For `found`: the name of the file that was dropped. */
const char *posted_job_source(const struct exchange *exchange);

/* Reply with a job that was submitted, and where it is; or with the name of a file that nobody has taken yet. */
void posted_job_tell(struct exchange *exchange, int status, const struct job_view *view);
void posted_job_tell_dropped(struct exchange *exchange, const char *source);

#endif
