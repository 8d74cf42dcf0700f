/* base/notify.h - telling systemd how this service is: sd_notify(3), without its library
 *
 * A message is a datagram of lines NAME=VALUE to the socket that $NOTIFY_SOCKET names: READY=1,
 * STATUS=sentence, WATCHDOG=1, STOPPING=1.  Who started this program without one is told nothing.
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

/* Take what the environment says, out of it: programs that are started later, such as podman, would
 * speak for this one.  The milliseconds within which WATCHDOG=1 is to be sent again and again; 0: nobody
 * waits for that. */
int64_t notify_open(void);

/* Send a message.  It never waits; what cannot be delivered is lost. */
void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
