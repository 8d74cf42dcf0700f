/* client/templates.h - the templates of a spool, for who asks about them */
#ifndef CLIENT_TEMPLATES_H
#define CLIENT_TEMPLATES_H

#include "renderer/repository.h"

/* Open the templates at a revision, from the repository at `path`, or for NULL the one of the spool whose directory is
 * `spool`.  In a hook, commits that are being pushed are found, too.  NULL and a sentence on failure; with
 * `faulty`, a wrong images.txt or site.yaml is not a failure. */
struct repository *templates_open(const char *spool, const char *path, const char *revision,
                                  bool faulty, struct error *error);

#endif
