/* base/notify.h - tells systemd the state of the service: sd_notify(3), without its library
 *
 * A message is a datagram of lines NAME=VALUE to the socket that $NOTIFY_SOCKET names: READY=1,
 * STATUS=sentence, WATCHDOG=1, STOPPING=1.  Without it nothing is sent.
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

/* Read the variables and remove them from the environment: programs started later, such as
 * podman, would speak for this one.  Returns the milliseconds within which WATCHDOG=1 must be
 * sent again and again; 0 when systemd does not expect it. */
int64_t notify_open(void);

/* Send a message.  Never waits; a message that cannot be delivered is lost. */
void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
