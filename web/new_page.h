/* web/new_page.h - the page on which a job file is pasted, checked and submitted */
#ifndef WEB_NEW_PAGE_H
#define WEB_NEW_PAGE_H

#include "web/routes.h"

extern const struct route new_page_routes[];

#endif
