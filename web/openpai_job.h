/* web/openpai_job.h - a job as OpenPAI's REST server describes it to its clients
 *
 * The members are those of its version 1.8; those of version 1 are among them.
 */
#ifndef WEB_OPENPAI_JOB_H
#define WEB_OPENPAI_JOB_H

#include "client/view.h"

/* WAITING, RUNNING, STOPPING, SUCCEEDED, STOPPED or FAILED.  A job that failed and is retried by itself waits. */
const char *openpai_job_state(const struct job_view *view);

/* An item of a list of jobs. */
struct value *openpai_job_summary(const struct spool *spool, struct arena *arena,
                                  const struct job_view *view);

/* The job with its tasks. */
struct value *openpai_job_detail(const struct spool *spool, struct arena *arena,
                                 const struct job_view *view);

#endif
