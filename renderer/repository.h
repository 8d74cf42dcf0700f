/* renderer/repository.h - templates, images.txt and site.yaml of one commit, through libgit2
 *
 * A bare repository is kept open; each commit's files are read once, compiled once and kept.
 * There is no work tree: a push is seen by the next repository_refresh(), whole or not at all.
 * When the branch's tip cannot be read (a push under way, a corrupt object), the last good commit
 * goes on serving and the reason is given.
 */
#ifndef RENDERER_REPOSITORY_H
#define RENDERER_REPOSITORY_H

#include "base/error.h"
#include "base/value.h"
#include "renderer/images.h"
#include "renderer/template.h"

struct repository;

/* Open the bare repository at `path`.  `revision` is what to serve: "HEAD" for the spool's own, or
 * any commit-ish.  NULL and a sentence on failure. */
struct repository *repository_open(const char *path, const char *revision, struct error *error);
void repository_close(struct repository *repository);

/* Look whether the revision has moved, and if so read the new commit.  0 when the served commit is
 * current; -1 and a sentence when a newer one could not be read and the old one goes on serving
 * (or, when nothing was ever read, none is). */
int repository_refresh(struct repository *repository, struct error *error);

/* The served commit as 40 hexadecimal digits, or NULL when there is none. */
const char *repository_commit(const struct repository *repository);

/* A file of the served commit; data NULL when there is none.  Valid until the commit changes. */
struct text repository_file(struct repository *repository, const char *path);

/* A compiled template of the served commit; NULL and a sentence when it is missing or not YAML. */
const struct template *repository_template(struct repository *repository, struct text path,
                                           struct error *error);
bool repository_has(struct repository *repository, const char *path);

/* images.txt and site.yaml of the served commit, parsed; NULL and a sentence when wrong. */
const struct images *repository_images(struct repository *repository, struct error *error);
const struct value *repository_site(struct repository *repository, struct error *error);

/* Call `visit` with the path of every file of the served commit, sorted. */
typedef int repository_visit(void *context, const char *path);
int repository_walk(struct repository *repository, repository_visit *visit, void *context);

#endif
