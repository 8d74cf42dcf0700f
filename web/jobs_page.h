/* web/jobs_page.h - the page of all jobs, and what is asked of those that are ticked */
#ifndef WEB_JOBS_PAGE_H
#define WEB_JOBS_PAGE_H

#include "client/view.h"
#include "web/routes.h"

extern const struct route jobs_page_routes[];

/* What may be asked of jobs by the pages. */
enum { JOBS_PAGE_VERBS = 4 };
extern const char *const jobs_page_verbs[JOBS_PAGE_VERBS];

/* The state, as a word in its colour. */
void jobs_page_add_state(struct buffer *out, const struct job_view *view);

#endif
