/* web/dlworkspace_control.h - what DLWorkspace's clients change, by POST: jobs are posted, killed, paused, resumed and
 * approved */
#ifndef WEB_DLWORKSPACE_CONTROL_H
#define WEB_DLWORKSPACE_CONTROL_H

#include "web/routes.h"

extern const struct route dlworkspace_control_routes[];

#endif
