/* stages/service/watchdog.h - tells systemd whether the service is alive
 *
 * The service is alive while each of its stages makes rounds, and systemd's watchdog is notified
 * for as long as it is.  When a stage has shown no sign of life for too long, the notifications
 * stop, and systemd restarts the service.  Without systemd this is only logged.
 */
#ifndef STAGES_SERVICE_WATCHDOG_H
#define STAGES_SERVICE_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/heartbeat.h"

struct watchdog;

/* Watch `count` stages.  NULL and a sentence when shared memory cannot be allocated.  NULL can be
 * freed. */
struct watchdog *watchdog_new(size_t count, struct error *error);
void watchdog_free(struct watchdog *watchdog);

/* The heartbeat of a stage that is started now. */
struct heart *watchdog_heart(struct watchdog *watchdog, size_t which);
/* The stage has ended, or was told to: expect no sign of life from it. */
void watchdog_rest(struct watchdog *watchdog, size_t which);

/* Call this at least every second. */
void watchdog_check(struct watchdog *watchdog, const char *const *names);

/* Tell systemd that the service is ready, serving or standing by: a sentence for `systemctl
 * status`. */
void watchdog_ready(const char *sentence);

#endif
