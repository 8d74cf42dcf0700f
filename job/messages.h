/* job/messages.h - of what a job's owner can be told by a message, and to which addresses
 *
 * Events have the words of `notify` of a job file.  A set of them is a number with a bit for each.
 */
#ifndef JOB_MESSAGES_H
#define JOB_MESSAGES_H

#include "base/text.h"

enum message_event {
    MESSAGE_BEGIN,            /* it has started */
    MESSAGE_END,              /* it has ended, whichever way, and does not come back by itself */
    MESSAGE_FAIL,             /* it has failed, and waits for somebody, or for a change */
    MESSAGE_REQUEUE,          /* it is tried again */
    MESSAGE_HELD,             /* it waits in held/ */
    MESSAGE_APPROVAL,         /* it waits for somebody's approval */
    MESSAGE_TIME_LIMIT_90,    /* it has run for 90 % of its time limit */
    MESSAGE_DEADLINE_AT_RISK, /* it may not be done by its deadline */
    MESSAGE_DEADLINE_MISSED,  /* it was not done by its deadline */
    MESSAGE_EVENTS
};

const char *message_event_name(enum message_event event); /* "begin", ... */

/* Add the event of that word, or with "all" every one, to the set.  False when there is none. */
bool message_event_add(struct text word, unsigned int *events);

/* Append the words of a set: "begin,end". */
void message_events_format(unsigned int events, struct buffer *out);

/* Is it an address that can stand in a message's header as it is: NAME@HOST, or NAME, of letters, digits and few
 * other characters?  So it has no blank, comma, quote, line end or control character, and names neither a program nor
 * a file to whatever sends the message. */
bool message_address_is_valid(struct text address);

#endif
