/* web/usage_api.h - /dlspool/v1/acct and /report: the accounts as the commands of these names print them */
#ifndef WEB_USAGE_API_H
#define WEB_USAGE_API_H

#include "web/routes.h"

/* The most attempts that one reply has. */
enum { USAGE_API_MOST = 10000 };

extern const struct route usage_api_routes[];

#endif
