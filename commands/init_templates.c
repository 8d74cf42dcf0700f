/* commands/init_templates.c - templates.git: what `dlspool init` commits to it */
#include "commands/init_templates.h"

#include <git2.h>
#include <stdio.h>
#include <string.h>

#include "commands/embedded.h"

static const char vendor[] = "refs/heads/vendor";

static int git_failed(struct error *error, const char *what)
{
    const git_error *problem = git_error_last();
    return error_set(error, "templates.git: %s: %s", what,
                     problem && problem->message ? problem->message : "unknown problem");
}

/* Put every embedded template into an index, as files of the repository's root. */
static int fill_index(git_repository *repository, git_index *index, struct error *error)
{
    const char prefix[] = "templates.git/";
    for (const struct embedded_file *file = embedded_files; file->path; file++) {
        if (strncmp(file->path, prefix, sizeof(prefix) - 1) != 0)
            continue;
        git_index_entry entry = {.mode = GIT_FILEMODE_BLOB,
                                 .path = file->path + sizeof(prefix) - 1};
        if (git_blob_create_from_buffer(&entry.id, repository, file->bytes, file->length) ||
            git_index_add(index, &entry))
            return git_failed(error, entry.path);
    }
    return 0;
}

/* This version's templates as a tree. */
static int write_tree(git_repository *repository, git_tree **tree, struct error *error)
{
    git_index *index = NULL;
    git_oid id;
    int result = -1;
    if (git_index_new(&index))
        git_failed(error, "no index");
    else if (fill_index(repository, index, error) == 0)
        result = git_index_write_tree_to(&id, index, repository) ||
                         git_tree_lookup(tree, repository, &id)
                     ? git_failed(error, "the templates could not be written")
                     : 0;
    git_index_free(index);
    return result;
}

/* Commit the tree to a branch, after `parent`, which may be NULL. */
static int commit_tree(git_repository *repository, const char *branch, git_tree *tree,
                       const git_commit *parent, git_oid *id, struct error *error)
{
    git_signature *signature = NULL;
    const git_commit *parents[] = {parent};
    int failed = git_signature_now(&signature, "dlspool", "dlspool@localhost") ||
                 git_commit_create(id, repository, branch, signature, signature, NULL,
                                   "templates: as they come with dlspool " DLSPOOL_VERSION "\n",
                                   tree, parent ? 1 : 0, parents);
    git_signature_free(signature);
    return failed ? git_failed(error, "the templates could not be committed") : 0;
}

static int first_commit(git_repository *repository, struct error *error)
{
    git_tree *tree = NULL;
    git_reference *reference = NULL;
    git_oid id;
    int result = write_tree(repository, &tree, error);
    if (!result)
        result = commit_tree(repository, "HEAD", tree, NULL, &id, error);
    if (!result && git_reference_create(&reference, repository, vendor, &id, 0, "init"))
        result = git_failed(error, "the branch vendor could not be made");
    git_reference_free(reference);
    git_tree_free(tree);
    return result;
}

int init_templates_create(const char *path, struct error *error)
{
    git_repository *repository = NULL;
    git_repository_init_options options;
    int result = 0;
    git_libgit2_init();
    git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
    options.flags =
        GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKDIR | GIT_REPOSITORY_INIT_NO_REINIT;
    options.initial_head = "main";
    options.description = "dlspool: job templates, images.txt, site.yaml and retry.txt";
    if (git_repository_init_ext(&repository, path, &options))
        result = git_failed(error, "the repository could not be made");
    if (!result)
        result = first_commit(repository, error);
    git_repository_free(repository);
    git_libgit2_shutdown();
    return result;
}

/* Find the first commit of the served branch along first parents, which merges keep. */
static int find_first(git_repository *repository, git_commit **found, struct error *error)
{
    git_oid id;
    git_commit *at = NULL, *before;
    if (git_reference_name_to_id(&id, repository, "HEAD") ||
        git_commit_lookup(&at, repository, &id))
        return git_failed(error, "the served branch could not be read");
    while (git_commit_parentcount(at) > 0) {
        if (git_commit_parent(&before, at, 0)) {
            git_commit_free(at);
            return git_failed(error, "the history of the served branch could not be read");
        }
        git_commit_free(at);
        at = before;
    }
    *found = at;
    return 0;
}

/* Find the parent of the next commit on vendor: its last commit, or the first of main when there
 * is no vendor. */
static int find_parent(git_repository *repository, git_commit **parent, struct error *error)
{
    git_oid id;
    int found = git_reference_name_to_id(&id, repository, vendor);
    if (found == GIT_ENOTFOUND)
        return find_first(repository, parent, error);
    return found || git_commit_lookup(parent, repository, &id)
               ? git_failed(error, "the branch vendor could not be read")
               : 0;
}

static int upgrade_branch(git_repository *repository, struct error *error)
{
    git_tree *tree = NULL;
    git_commit *parent = NULL;
    git_reference *reference = NULL;
    git_oid id;
    int result = find_parent(repository, &parent, error) || write_tree(repository, &tree, error);
    if (!result) {
        id = *git_commit_id(parent);
        if (!git_oid_equal(git_commit_tree_id(parent), git_tree_id(tree)))
            result = commit_tree(repository, NULL, tree, parent, &id, error);
    }
    if (!result && git_reference_create(&reference, repository, vendor, &id, 1, "init --upgrade"))
        result = git_failed(error, "the branch vendor could not be written");
    git_reference_free(reference);
    git_commit_free(parent);
    git_tree_free(tree);
    return result ? -1 : 0;
}

int init_templates_upgrade(const char *path, struct error *error)
{
    git_repository *repository = NULL;
    git_libgit2_init();
    /* Root may upgrade a spool that another user owns, which libgit2 would refuse. */
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    int result = git_repository_open_bare(&repository, path)
                     ? git_failed(error, "the repository could not be opened")
                     : upgrade_branch(repository, error);
    git_repository_free(repository);
    git_libgit2_shutdown();
    return result;
}
