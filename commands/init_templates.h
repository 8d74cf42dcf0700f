/* commands/init_templates.h - templates.git: what `dlspool init` commits to it
 *
 * The branch `vendor` has only the templates of each version of dlspool, one commit for each;
 * `main`, which is served, begins with the first of them.  So `git merge vendor` brings new
 * templates, and keeps the site's changes.
 */
#ifndef COMMANDS_INIT_TEMPLATES_H
#define COMMANDS_INIT_TEMPLATES_H

#include "base/error.h"

/* Make the bare repository at `path`, with this version's templates as the first commit of both.  -1 and a
 * sentence on failure. */
int init_templates_create(const char *path, struct error *error);

/* Commit this version's templates to `vendor`, unless they are unchanged.  A repository of a
 * version without that branch gets it, beginning with main's first commit.  `main` is not
 * touched.  -1 and a sentence on failure. */
int init_templates_upgrade(const char *path, struct error *error);

#endif
