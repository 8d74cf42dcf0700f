/* web/cluster_api.h - /dlspool/v1/status, /nodes, /limits and /share: how the spool stands, what there is, who may have
 * what, and has it, as the commands print it */
#ifndef WEB_CLUSTER_API_H
#define WEB_CLUSTER_API_H

#include "web/routes.h"

extern const struct route cluster_api_routes[];

#endif
