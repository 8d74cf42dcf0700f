/* base/journal.h - messages to systemd's journal with fields, without its library
 *
 * A message is a datagram to the journal's socket, in the form that sd_journal_send(3) uses: NAME=value, a line each;
 * a value with a newline follows its name with its length in front.  The library would do the same, but opens its
 * socket when the first message is sent, which confined processes may not, and brings five others with it.
 *
 * The socket is opened once and inherited; sending is one write(2), which never waits.
 */
#ifndef BASE_JOURNAL_H
#define BASE_JOURNAL_H

#include <stdbool.h>

#include "base/text.h"

/* False when there is none. */
bool journal_open(void);
/* For a process that closes descriptors which it was not given on purpose: from now on there is none. */
void journal_close(void);

/* Append a field; nothing when the value is empty. */
void journal_add(struct buffer *message, const char *name, struct text value);
/* False when it cannot be delivered now, or there is no journal. */
bool journal_send(const struct buffer *message);

#endif
