/* renderer/snapshot.h - the files of one commit, read once
 *
 * Private to repository.c.  A snapshot is complete, or there is none.
 */
#ifndef RENDERER_SNAPSHOT_H
#define RENDERER_SNAPSHOT_H

#include <git2.h>

#include "base/yaml.h"
#include "renderer/images.h"
#include "renderer/jsone/template.h"

/* Bounds of a commit.  Its authors are trusted; the bounds only limit the damage of a mistake. */
enum {
    MOST_FILES = 10000,
    DEEPEST_DIRECTORY = 16,
    LONGEST_PATH = 1024,      /* bytes */
    LARGEST_FILE = 1 << 20,   /* bytes */
    LARGEST_COMMIT = 16 << 20 /* bytes of the files that are read, together */
};

extern const struct yaml_limits template_yaml_limits;

struct file {
    struct text path; /* followed by a NUL */
    git_oid id;
    git_filemode_t mode;
    struct text content;       /* data NULL when it was not read */
    const char *unread;        /* then why */
    struct value *tree;        /* NULL until asked for */
    struct template *template; /* NULL until asked for */
    const char *fault;         /* why there is no tree */
};

struct snapshot {
    struct arena *arena;
    git_oid id;
    char commit[GIT_OID_HEXSZ + 1];
    struct file *files; /* sorted by path */
    size_t count, capacity, bytes;
    const struct images *images; /* NULL: then images_fault says why */
    const char *images_fault;
    const struct value *site; /* NULL: then site_fault says why */
    const char *site_fault;
};

/* Read a commit.  images.txt and site.yaml may be wrong; all else must be readable.  NULL and a
 * sentence on failure. */
struct snapshot *snapshot_read(git_repository *git, git_odb *objects, const git_oid *id,
                               struct error *error);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* The file with that path, or NULL; `snapshot` may be NULL. */
struct file *snapshot_find(const struct snapshot *snapshot, struct text path);

/* libgit2's last error message. */
const char *snapshot_git_problem(void);

#endif
