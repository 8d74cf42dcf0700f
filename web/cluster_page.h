/* web/cluster_page.h - the page of what there is, and who has it: capacity, queues, users */
#ifndef WEB_CLUSTER_PAGE_H
#define WEB_CLUSTER_PAGE_H

#include "web/routes.h"

extern const struct route cluster_page_routes[];

#endif
