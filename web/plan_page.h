/* web/plan_page.h - the page of the last plan: when jobs are likely to end, and their deadlines */
#ifndef WEB_PLAN_PAGE_H
#define WEB_PLAN_PAGE_H

#include "web/routes.h"

extern const struct route plan_page_routes[];

#endif
