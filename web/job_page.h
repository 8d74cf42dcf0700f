/* web/job_page.h - the page of one job: why, what may be asked of it, what it is, and its files */
#ifndef WEB_JOB_PAGE_H
#define WEB_JOB_PAGE_H

#include "web/routes.h"

extern const struct route job_page_routes[];

#endif
