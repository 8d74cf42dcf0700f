/* commands/dry_run.h - checks and renders a job file without dropping it */
#ifndef COMMANDS_DRY_RUN_H
#define COMMANDS_DRY_RUN_H

#include "base/error.h"
#include "spool/spool.h"

/* Render the job file as intake would, and print its template, image and resources: a line for
 * people, or an object.  Notes go to standard error.  -1 and a sentence when it would be
 * refused. */
int dry_run(const struct spool *spool, struct text bytes, const char *path, bool json,
            struct error *error);

#endif
