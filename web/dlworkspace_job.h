/* web/dlworkspace_job.h - a job as DLWorkspace's REST server describes it */
#ifndef WEB_DLWORKSPACE_JOB_H
#define WEB_DLWORKSPACE_JOB_H

#include "client/view.h"

/* unapproved, queued, scheduling, running, killing, paused, finished, failed or killed.  A job that failed and
 * is retried by itself is queued. */
const char *dlworkspace_job_status(const struct job_view *view);

struct value *dlworkspace_job_tree(struct arena *arena, const struct job_view *view);

/* Its jobStatus, jobTime and errorMsg only. */
struct value *dlworkspace_job_short(struct arena *arena, const struct job_view *view);

/* The virtual cluster that it is of: its queue. */
struct text dlworkspace_job_cluster(const struct job_view *view);

#endif
