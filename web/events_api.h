/* web/events_api.h - /dlspool/v1/jobs/ID/events: what happens to a job and what it prints, as server-sent events
 *
 * `state` when that changes, `log` for each line of its log, `output` for what its tasks print, `end` when it has ended
 * and all was sent.  While nothing happens it costs a look at the status of its files twice a second.
 */
#ifndef WEB_EVENTS_API_H
#define WEB_EVENTS_API_H

#include "web/routes.h"

extern const struct route events_api_routes[];

#endif
