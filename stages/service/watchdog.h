/* stages/service/watchdog.h - is the service well?  What systemd is told of it
 *
 * The service is well while each of its stages makes rounds.  As long as it is, the watchdog of
 * systemd is told so; when a stage has not shown a sign of life for too long, it is not, and systemd
 * ends the service and starts it again.  Without systemd the same is only said in the log.
 */
#ifndef STAGES_SERVICE_WATCHDOG_H
#define STAGES_SERVICE_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/heartbeat.h"

struct watchdog;

/* For `count` stages.  NULL and a sentence when there is no memory to share.  NULL can be freed. */
struct watchdog *watchdog_new(size_t count, struct error *error);
void watchdog_free(struct watchdog *watchdog);

/* The heart of a stage that is started now. */
struct heart *watchdog_heart(struct watchdog *watchdog, size_t which);
/* It has ended, or is told to: nothing is expected of it. */
void watchdog_rest(struct watchdog *watchdog, size_t which);

/* To be called every second or oftener. */
void watchdog_look(struct watchdog *watchdog, const char *const *names);

/* The service is ready, in one way or the other: a sentence for `systemctl status`. */
void watchdog_ready(const char *sentence);

#endif
