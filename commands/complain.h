/* commands/complain.h - sentences on standard error: `dlspool verb: sentence`
 */
#ifndef COMMANDS_COMPLAIN_H
#define COMMANDS_COMPLAIN_H

#include "base/error.h"

/* Set the verb that starts the sentences from now on. */
void complain_of_verb(const char *verb);

/* Print why the command fails. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print a note that does not make the command fail. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For --json: return the first sentence of complain() that is not in a JSON object yet, or NULL,
 * and regard it as written. */
const char *complain_untold(void);
void complain_mark_told(void);

#endif
