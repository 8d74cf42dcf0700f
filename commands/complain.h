/* commands/complain.h - sentences on standard error: `dlspool verb: sentence`
 */
#ifndef COMMANDS_COMPLAIN_H
#define COMMANDS_COMPLAIN_H

#include "base/error.h"

/* The verb that the sentences begin with from now on. */
void complain_of_verb(const char *verb);

/* Print why the command fails. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, of what is worth knowing and fails nothing. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For --json: the first sentence of complain() that is in no object yet, or NULL; and that it is in one now. */
const char *complain_untold(void);
void complain_mark_told(void);

#endif
