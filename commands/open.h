/* commands/open.h - the spool of the command line, and its templates */
#ifndef COMMANDS_OPEN_H
#define COMMANDS_OPEN_H

#include "renderer/repository.h"
#include "spool/settings.h"

/* Open the spool of the command line.  -1 after a complaint. */
int open_spool(struct spool *spool);
/* The same, and read its settings.  -1 after a complaint: nothing is open then. */
int open_spool_and_settings(struct spool *spool, struct settings *settings);

/* Open the templates at a revision, from the repository at `path`, or the spool's own for NULL.
 * In a hook, commits that are being pushed are found, too.  NULL and a sentence on failure; with
 * `faulty`, a wrong images.txt or site.yaml is not a failure. */
struct repository *open_templates(const char *path, const char *revision, bool faulty,
                                  struct error *error);

#endif
