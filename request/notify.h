/* request/notify.h - of what the owner of a job wants to be told: notify
 *
 * `notify: end`, `notify: [begin, end]`, or `notify: {events: [begin, end], mail: ann@example.org}`, where
 * `mail` is an address or a list of them.
 */
#ifndef REQUEST_NOTIFY_H
#define REQUEST_NOTIFY_H

#include "request/description.h"
#include "request/fields.h"

enum { NOTIFY_ADDRESSES_MOST = 8 };

/* The words after "expected", where an address is wrong. */
#define NOTIFY_ADDRESS_WORDS "an address such as ann@example.org, in letters and digits of ASCII"

field_reader read_notify; /* struct wanted_messages */

#endif
