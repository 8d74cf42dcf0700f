/* renderer/repository.h - templates, images.txt and site.yaml of one commit, through libgit2
 *
 * A bare repository is kept open; each commit's files are read once, compiled once and kept.
 * There is no work tree: a push is seen by the next repository_refresh(), whole or not at all.
 * When the branch's tip cannot be read (a push under way, a corrupt object), the last good commit
 * goes on serving and the reason is given.  Good means: every file that may be needed could be
 * read, and images.txt and site.yaml parse.  A template that does not parse only fails its jobs.
 *
 * Only files whose names end in .yaml or .txt are read, at most 10,000 files of 1 MiB each and 16
 * MiB together; symbolic links and submodules are not followed.
 *
 * The repository decides what runs, so it must belong to root, to the process's own user, or to the
 * owner of its parent directory (the spool); libgit2's own check of the owner is turned off for the
 * process, and so is its reading of system-wide and personal git configuration.
 */
#ifndef RENDERER_REPOSITORY_H
#define RENDERER_REPOSITORY_H

#include "base/error.h"
#include "base/value.h"
#include "renderer/host.h"
#include "renderer/images.h"
#include "renderer/jsone/template.h"

struct repository;

/* Open the bare repository at `path`.  `revision` is the commit to serve: "HEAD" for the spool's
 * own, or any commit-ish.  Nothing is read until the first repository_refresh().  NULL and a
 * sentence on failure. */
struct repository *repository_open(const char *path, const char *revision, struct error *error);
void repository_close(struct repository *repository); /* NULL is fine */

/* Also look for objects in another object directory: git keeps the objects of a push there
 * ($GIT_OBJECT_DIRECTORY) until the pre-receive hook accepts it. */
int repository_add_objects(struct repository *repository, const char *directory,
                           struct error *error);

/* Also serve a commit whose images.txt or site.yaml is wrong, in order to check it. */
void repository_serve_faulty(struct repository *repository);

/* Look whether the revision has moved, and if so read the new commit.  0 when the served commit is
 * current; -1 and a sentence when a newer one could not be read and the old one goes on serving
 * (or, when nothing was ever read, none is).  A commit that failed is retried after a second.  A
 * change of the commit invalidates everything that the functions below have returned. */
int repository_refresh(struct repository *repository, struct error *error);

/* The served commit as 40 hexadecimal digits, or NULL when there is none. */
const char *repository_commit(const struct repository *repository);

/* Is that commit what the revision stands for just now, or one before it? */
bool repository_has_commit(struct repository *repository, struct text commit);

/* A file of the served commit; data NULL when it is missing or was not read.  Valid until the
 * commit changes. */
struct text repository_file(struct repository *repository, const char *path);
/* The same, with a sentence when it is missing, a link, too large, or of a name that is not
 * read. */
int repository_read(struct repository *repository, const char *path, struct text *content,
                    struct error *error);
bool repository_has(struct repository *repository, const char *path);

/* A compiled template of the served commit; NULL and a sentence when it is missing or not YAML. */
const struct template *repository_template(struct repository *repository, struct text path,
                                           struct error *error);

/* The tree of a template, before compilation; NULL and a sentence as above. */
const struct value *repository_tree(struct repository *repository, struct text path,
                                    struct error *error);

/* images.txt and site.yaml of the served commit, parsed; NULL and a sentence when wrong. */
const struct images *repository_images(struct repository *repository, struct error *error);
const struct value *repository_site(struct repository *repository, struct error *error);

/* Read what this machine has (host.h) from the directory's `.host`, for rows of images.txt with the
 * image `host`.  Without that file repository_host() stays NULL: not known. */
void repository_read_host(struct repository *repository, const char *directory);
const struct host *repository_host(const struct repository *repository);

/* Call `visit` with the path of every file of the served commit, sorted by bytes, links included.
 * `visit` returns 0 to go on, or anything else to stop with that result. */
typedef int repository_visit(void *context, const char *path);
int repository_walk(struct repository *repository, repository_visit *visit, void *context);

#endif
