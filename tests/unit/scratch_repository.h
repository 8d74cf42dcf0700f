/* tests/unit/scratch_repository.h - a bare repository in a temporary directory, for tests
 *
 * scratch_put() and scratch_import() change what the next scratch_commit() holds.  Failures stop
 * the test at once.
 */
#ifndef TESTS_SCRATCH_REPOSITORY_H
#define TESTS_SCRATCH_REPOSITORY_H

#include <fcntl.h>
#include <ftw.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

struct scratch {
    char path[64];
    git_repository *git;
    git_index *index;
};

static inline void scratch_require(bool held, const char *what)
{
    if (held)
        return;
    const git_error *last = git_error_last();
    fprintf(stderr, "scratch repository: %s failed: %s\n", what, last ? last->message : "?");
    abort();
}

static inline void scratch_open(struct scratch *scratch)
{
    git_libgit2_init();
    /* Tests make commits whose objects are missing. */
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 0);
    *scratch = (struct scratch){.path = "/tmp/dlspool-test-XXXXXX"};
    scratch_require(mkdtemp(scratch->path) != NULL, "mkdtemp");
    scratch_require(git_repository_init(&scratch->git, scratch->path, 1) == 0, "init");
    scratch_require(git_index_new(&scratch->index) == 0, "index");
}

static inline int scratch_unlink(const char *path, const struct stat *status, int type,
                                 struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static inline void scratch_close(struct scratch *scratch)
{
    git_index_free(scratch->index);
    git_repository_free(scratch->git);
    nftw(scratch->path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
    git_libgit2_shutdown();
}

static inline void scratch_put_as(struct scratch *scratch, const char *path, const void *bytes,
                                  size_t length, unsigned mode)
{
    git_index_entry entry = {.path = path, .mode = mode};
    scratch_require(git_blob_create_from_buffer(&entry.id, scratch->git, bytes, length) == 0,
                    "blob");
    scratch_require(git_index_add(scratch->index, &entry) == 0, path);
}

static inline void scratch_put(struct scratch *scratch, const char *path, const char *content)
{
    scratch_put_as(scratch, path, content, strlen(content), 0100644);
}

static inline void scratch_remove(struct scratch *scratch, const char *path)
{
    scratch_require(git_index_remove(scratch->index, path, 0) == 0, path);
}

/* Commit what was put, on the branch that HEAD names; returns the commit's hexadecimal name. */
static inline const char *scratch_commit(struct scratch *scratch)
{
    static char hex[GIT_OID_HEXSZ + 1];
    git_oid tree_id, id;
    git_tree *tree = NULL;
    git_signature *who = NULL;
    git_object *parent = NULL;
    const git_commit *parents[1];
    scratch_require(git_index_write_tree_to(&tree_id, scratch->index, scratch->git) == 0, "tree");
    scratch_require(git_tree_lookup(&tree, scratch->git, &tree_id) == 0, "tree lookup");
    scratch_require(git_signature_new(&who, "tester", "tester@example.org", 0, 0) == 0, "who");
    size_t count = git_revparse_single(&parent, scratch->git, "HEAD") == 0;
    parents[0] = (const git_commit *)parent;
    scratch_require(git_commit_create(&id, scratch->git, "HEAD", who, who, NULL, "test", tree,
                                      count, parents) == 0,
                    "commit");
    git_object_free(parent);
    git_signature_free(who);
    git_tree_free(tree);
    git_oid_tostr(hex, sizeof(hex), &id);
    return hex;
}

/* Put a file of the project at `path` of the repository. */
static inline void scratch_import(struct scratch *scratch, const char *file, const char *path)
{
    struct buffer content = {0};
    char bytes[4096];
    size_t got;
    FILE *stream = fopen(file, "r");
    if (!stream)
        fprintf(stderr, "%s is missing; run from the project's root\n", file);
    scratch_require(stream != NULL, "fopen");
    while ((got = fread(bytes, 1, sizeof(bytes), stream)) > 0)
        buffer_add(&content, bytes, got);
    fclose(stream);
    scratch_put_as(scratch, path, content.data ? content.data : "", content.length, 0100644);
    buffer_free(&content);
}

static struct scratch *scratch_importing;

static inline int scratch_import_visit(const char *path, const struct stat *status, int type,
                                       struct FTW *walk)
{
    (void)status, (void)walk;
    if (type == FTW_F)
        scratch_import(scratch_importing, path, path + strlen("templates/"));
    return 0;
}

/* Put what `dlspool init` commits first. */
static inline void scratch_import_shipped(struct scratch *scratch)
{
    scratch_importing = scratch;
    scratch_require(nftw("templates", scratch_import_visit, 16, FTW_PHYS) == 0, "templates");
    scratch_import(scratch, "images.txt", "images.txt");
}

#endif
