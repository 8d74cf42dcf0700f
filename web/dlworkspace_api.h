/* web/dlworkspace_api.h - /dlws: what DLWorkspace's clients read of jobs and of the cluster
 *
 * Names, parameters and replies are those of its REST server.  Other than there, userName is not believed, but
 * compared with the user of the connection, and nothing is changed by GET (web/dlworkspace_control.h).
 */
#ifndef WEB_DLWORKSPACE_API_H
#define WEB_DLWORKSPACE_API_H

#include "web/routes.h"

extern const struct route dlworkspace_api_routes[];

#endif
