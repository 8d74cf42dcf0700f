/* web/plan_api.h - /dlspool/v1/plan: what a commit of the templates would change, as `dlspool plan REVISION` prints it
 *
 * Jobs are rendered for it, and meanwhile the page answers nobody else: so it stops looking after `within`.
 */
#ifndef WEB_PLAN_API_H
#define WEB_PLAN_API_H

#include "web/routes.h"

extern const struct route plan_api_routes[];

#endif
