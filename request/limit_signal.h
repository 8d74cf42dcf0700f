/* request/limit_signal.h - a signal before the time limit: signal{name, before}
 *
 * The name alone is the signal a minute before.
 */
#ifndef REQUEST_LIMIT_SIGNAL_H
#define REQUEST_LIMIT_SIGNAL_H

#include "request/description.h"
#include "request/fields.h"

field_reader read_limit_signal; /* struct limit_signal */

/* Check that it comes before the limit ends, where the job names one. */
void limit_signal_check(struct reading *reading, const struct value *root,
                        const struct description *job);

#endif
