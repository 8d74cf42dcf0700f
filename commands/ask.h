/* commands/ask.h - the executor of a spool, for a command that has a question to it */
#ifndef COMMANDS_ASK_H
#define COMMANDS_ASK_H

#include "executors/executor.h"
#include "spool/settings.h"

/* Whether who runs the command may ask it: root and the spool's owner, whose its credentials, and podman,
 * are. */
bool ask_allowed(const struct spool *spool);
/* The executor that the settings name.  NULL and a sentence when it cannot be opened, or may not be
 * asked. */
struct executor *ask_open(const struct spool *spool, const struct settings *settings,
                          struct error *error);
/* Ends it.  What was started to be asked is stopped, unless a daemon serves the spool, and so may use
 * it. */
void ask_close(struct executor *executor, bool served);

#endif
