/* commands/init_templates.h - templates.git: what `dlspool init` commits to it
 *
 * The branch `vendor` has the templates as each version of dlspool brings them, one commit for each
 * version, and nothing else; `main`, which is served, begins with the first of them.  So `git merge
 * vendor` brings what is new, and leaves what the site has changed.
 */
#ifndef COMMANDS_INIT_TEMPLATES_H
#define COMMANDS_INIT_TEMPLATES_H

#include "base/error.h"

/* Make the bare repository at `path`, with this version's templates as the first commit of both.  -1 and a
 * sentence on failure. */
int init_templates_create(const char *path, struct error *error);

/* Put this version's templates on `vendor`, as a commit after its last one, unless they are the same.
 * A repository of a version that made no such branch gets it, beginning with main's first commit.
 * `main` is not touched.  -1 and a sentence on failure. */
int init_templates_upgrade(const char *path, struct error *error);

#endif
