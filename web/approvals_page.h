/* web/approvals_page.h - the page on which an approver decides about jobs that wait for that */
#ifndef WEB_APPROVALS_PAGE_H
#define WEB_APPROVALS_PAGE_H

#include "web/routes.h"

extern const struct route approvals_page_routes[];

#endif
