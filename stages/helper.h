/* stages/helper.h - starts a process beside a stage that answers its questions over a socket */
#ifndef STAGES_HELPER_H
#define STAGES_HELPER_H

#include <sys/types.h>

#include "base/error.h"

/* What the process does: answer what comes over the socket, until that is closed.  It ends when this returns. */
typedef void helper_answer(int socket, void *context);

/* Fork a process named `name`, which "the process that <does>" means in sentences.  It is killed when the stage
 * ends, and has no signal blocked.  *socket becomes the stage's end of the socket, and *process, which may be
 * NULL, the process's id.  -1 and a sentence on failure. */
int helper_start(const char *name, const char *does, helper_answer *answer, void *context,
                 int *socket, pid_t *process, struct error *error);

#endif
