/* web/me_page.h - the page of a user's own: name, groups, limits, share, tokens */
#ifndef WEB_ME_PAGE_H
#define WEB_ME_PAGE_H

#include "web/routes.h"

extern const struct route me_page_routes[];

#endif
