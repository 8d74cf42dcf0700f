/* web/jobs_api.h - /dlspool/v1/jobs: jobs as `--json` prints them, their files, and what is asked of them
 *
 * A job is named as on the command line: by its id, by a name, or by a beginning of an id (spool/meant.h).
 */
#ifndef WEB_JOBS_API_H
#define WEB_JOBS_API_H

#include "client/view.h"
#include "web/routes.h"

/* The routes of this part. */
extern const struct route jobs_api_routes[];

/* Find the job that the first part of the path means, and read it.  HTTP_OK, or another status and a sentence. */
int jobs_api_look(struct exchange *exchange, struct job_view *view, struct error *error);
/* The same, or an archived job, of which only the view is there (web/archived_jobs.h): for who shows it. */
int jobs_api_look_anywhere(struct exchange *exchange, struct job_view *view, struct error *error);
/* As jobs_api_look().  False after a reply when that cannot be done. */
bool jobs_api_find(struct exchange *exchange, struct job_view *view);

#endif
