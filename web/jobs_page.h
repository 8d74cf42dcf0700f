/* web/jobs_page.h - the pages of jobs: the list, with what is asked of many, and one job */
#ifndef WEB_JOBS_PAGE_H
#define WEB_JOBS_PAGE_H

#include "web/routes.h"

extern const struct route jobs_page_routes[];

#endif
