/* commands/ask.h - opens the executor of a spool for a command that queries it */
#ifndef COMMANDS_ASK_H
#define COMMANDS_ASK_H

#include "executors/executor.h"
#include "spool/settings.h"

/* May the caller query the executor?  Only root and the spool's owner may: the credentials and
 * podman are the owner's. */
bool ask_allowed(const struct spool *spool);
/* Is the caller an administrator of the spool?  True, too, when its settings cannot be read: intake will know. */
bool ask_is_administrator(const struct spool *spool);
/* Open the executor that the settings name.  NULL and a sentence when it cannot be opened, or
 * the caller may not query it. */
struct executor *ask_open(const struct spool *spool, const struct settings *settings,
                          struct error *error);
/* Close the executor.  Programs that were started for the query are stopped, unless a daemon
 * serves the spool and may be using them. */
void ask_close(struct executor *executor, bool served);

#endif
