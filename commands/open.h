/* commands/open.h - the spool of the command line, and its templates */
#ifndef COMMANDS_OPEN_H
#define COMMANDS_OPEN_H

#include "renderer/repository.h"
#include "spool/spool.h"

/* Open the spool of the command line.  -1 and the sentence was said. */
int open_spool(struct spool *spool);

/* Open templates at a revision and read it: of the repository `path`, NULL for the spool's own.  In a
 * hook, what is being pushed is found too.  NULL and a sentence on failure; with `faulty`, an
 * images.txt or site.yaml that is wrong is none. */
struct repository *open_templates(const char *path, const char *revision, bool faulty,
                                  struct error *error);

#endif
