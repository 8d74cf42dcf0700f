/* stages/service/ask_host.h - asks this machine's Python which libraries it has
 *
 * For rows of images.txt whose image is `host` (renderer/host.h).  Python runs isolated (-I), with
 * an empty environment and the PATH of a task (site.local.path), in /, as nobody where we are root,
 * for at most ten seconds; it reads the metadata of the machine's packages and imports none of
 * them.
 */
#ifndef STAGES_SERVICE_ASK_HOST_H
#define STAGES_SERVICE_ASK_HOST_H

#include "base/error.h"
#include "spool/settings.h"
#include "spool/spool.h"

/* Write the spool's `.host` again, where the settings say that jobs run on this machine.  A machine
 * that cannot be asked (which is logged) has only the library `any`.  -1 and a sentence when the
 * file could not be written. */
int ask_host(const struct spool *spool, const struct settings *settings, struct error *error);

/* Run the script with the python3 of that PATH, and append its answer.  -1 and a sentence. */
int ask_host_python(const char *path, struct buffer *answer, struct error *error);

#endif
