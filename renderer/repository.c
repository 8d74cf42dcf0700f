/* renderer/repository.c - templates, images.txt and site.yaml of one commit, through libgit2
 *
 * All files of a commit are read into a snapshot, which has its own arena; the next commit's
 * snapshot replaces it only when it is complete.  Never writes, never runs git.
 */
#include "renderer/repository.h"

#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/yaml.h"
#include "renderer/snapshot.h"

enum { RETRY_AFTER = 1000 }; /* milliseconds until a commit that failed is retried */

struct repository {
    git_repository *git;
    git_odb *objects;
    char *path, *revision;
    bool serve_faulty;
    struct snapshot *served; /* NULL when nothing could ever be read */
    struct arena *host_arena;
    const struct host *host; /* NULL: not known */
    git_oid failed_id;       /* the commit that could not be served, */
    int64_t failed_at;       /* when (clock_elapsed), 0 for none, */
    struct error failure;    /* and why */
};

/* Opening */

/* Status of the parent directory of `path` as written; a link at the end is not followed. */
static int stat_parent(const char *path, struct stat *status)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t end = length;
    while (end > 0 && path[end - 1] != '/')
        end--;
    struct text name = {path + end, length - end};
    if (name.length == 0 || text_is(name, ".") || text_is(name, ".."))
        return -1;
    char *parent = end ? memory_copy_string(path) : memory_copy_string(".");
    if (end)
        parent[end] = '\0';
    int result = stat(parent, status);
    free(parent);
    return result;
}

static int check_owner(const char *path, struct error *error)
{
    struct stat own, parent;
    if (stat(path, &own))
        return error_errno(error, "templates repository %s cannot be looked at", path);
    if (!S_ISDIR(own.st_mode))
        return error_set(error, "templates repository %s is not a directory", path);
    if (own.st_uid == 0 || own.st_uid == geteuid())
        return 0;
    if (stat_parent(path, &parent) == 0 && parent.st_uid == own.st_uid)
        return 0;
    return error_set(error,
                     "templates repository %s belongs to user %u; it decides what runs, so it must "
                     "belong to root, to user %u as whom this runs, or to the owner of the "
                     "directory it stands in",
                     path, (unsigned)own.st_uid, (unsigned)geteuid());
}

static void prepare_library(void)
{
    static bool ready;
    if (ready)
        return;
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_PROGRAMDATA, "");
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_SYSTEM, "");
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, "");
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, "");
    ready = true;
}

struct repository *repository_open(const char *path, const char *revision, struct error *error)
{
    prepare_library();
    if (check_owner(path, error))
        return NULL;
    struct repository *repository = memory_allocate(sizeof(*repository));
    repository->path = memory_copy_string(path);
    repository->revision = memory_copy_string(revision);
    if (git_repository_open_ext(&repository->git, path,
                                GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE, NULL) ||
        git_repository_odb(&repository->objects, repository->git)) {
        error_set(error, "templates repository %s cannot be opened: %s", path,
                  snapshot_git_problem());
        repository_close(repository);
        return NULL;
    }
    return repository;
}

int repository_add_objects(struct repository *repository, const char *directory,
                           struct error *error)
{
    if (git_odb_add_disk_alternate(repository->objects, directory))
        return error_set(error, "%s: objects in %s cannot be used: %s", repository->path, directory,
                         snapshot_git_problem());
    return 0;
}

void repository_read_host(struct repository *repository, const char *directory)
{
    if (!repository->host_arena)
        repository->host_arena = arena_new();
    repository->host = host_read(repository->host_arena, directory, NULL);
}

const struct host *repository_host(const struct repository *repository)
{
    return repository->host;
}

void repository_serve_faulty(struct repository *repository)
{
    repository->serve_faulty = true;
}

void repository_close(struct repository *repository)
{
    if (!repository)
        return;
    snapshot_free(repository->served);
    arena_free(repository->host_arena);
    git_odb_free(repository->objects);
    git_repository_free(repository->git);
    free(repository->path);
    free(repository->revision);
    free(repository);
}

/* Resolve the revision to a commit. */
static int resolve_revision(struct repository *repository, git_oid *id, struct error *error)
{
    /* HEAD is resolved before every job; this is ten times faster than git_revparse_single(). */
    if (strcmp(repository->revision, "HEAD") == 0) {
        if (git_reference_name_to_id(id, repository->git, "HEAD") == 0)
            return 0;
        if (git_repository_head_unborn(repository->git) == 1)
            return error_set(error,
                             "templates repository %s has no commit on the branch that its "
                             "HEAD names; push one",
                             repository->path);
        return error_set(error, "templates repository %s: HEAD cannot be read: %s",
                         repository->path, snapshot_git_problem());
    }
    git_object *object = NULL, *commit = NULL;
    int result = 0;
    if (git_revparse_single(&object, repository->git, repository->revision) ||
        git_object_peel(&commit, object, GIT_OBJECT_COMMIT)) {
        struct error_quote_buffer buffer;
        result = error_set(error, "templates repository %s: \"%s\" names no commit: %s",
                           repository->path,
                           error_quote(&buffer, repository->revision, strlen(repository->revision)),
                           snapshot_git_problem());
    } else {
        *id = *git_object_id(commit);
    }
    git_object_free(object);
    git_object_free(commit);
    return result;
}

bool repository_has_commit(struct repository *repository, struct text commit)
{
    git_oid tip, id;
    if (commit.length != GIT_OID_HEXSZ || git_oid_fromstrn(&id, commit.data, commit.length) ||
        resolve_revision(repository, &tip, NULL))
        return false;
    return git_oid_equal(&tip, &id) || git_graph_descendant_of(repository->git, &tip, &id) == 1;
}

static struct snapshot *read_good(struct repository *repository, const git_oid *id,
                                  struct error *error)
{
    struct snapshot *snapshot = snapshot_read(repository->git, repository->objects, id, error);
    if (!snapshot || repository->serve_faulty)
        return snapshot;
    const char *fault = snapshot->images_fault ? snapshot->images_fault : snapshot->site_fault;
    if (!fault)
        return snapshot;
    error_set(error, "%s", fault);
    snapshot_free(snapshot);
    return NULL;
}

int repository_refresh(struct repository *repository, struct error *error)
{
    git_oid id;
    if (resolve_revision(repository, &id, error))
        return -1;
    if (repository->served && git_oid_equal(&repository->served->id, &id))
        return 0;
    if (repository->failed_at && git_oid_equal(&repository->failed_id, &id) &&
        clock_elapsed() - repository->failed_at < RETRY_AFTER)
        return error_set(error, "%s", repository->failure.text);

    struct error reason;
    struct snapshot *snapshot = NULL;
    if (check_owner(repository->path, &reason) == 0)
        snapshot = read_good(repository, &id, &reason);
    if (!snapshot) {
        char hex[GIT_OID_HEXSZ + 1], serving[64] = "no commit is served";
        git_oid_tostr(hex, sizeof(hex), &id);
        if (repository->served)
            snprintf(serving, sizeof(serving), "commit %.7s goes on serving",
                     repository->served->commit);
        error_set(&repository->failure,
                  "templates repository %s: commit %.7s cannot be used: %s; %s", repository->path,
                  hex, reason.text, serving);
        repository->failed_id = id;
        repository->failed_at = clock_elapsed();
        return error_set(error, "%s", repository->failure.text);
    }
    snapshot_free(repository->served);
    repository->served = snapshot;
    repository->failed_at = 0;
    return 0;
}

/* Asking the served commit */

const char *repository_commit(const struct repository *repository)
{
    return repository->served ? repository->served->commit : NULL;
}

/* For a better sentence only: names such as ".." never occur in a tree. */
static int check_path(struct text path, struct error *error)
{
    struct error_quote_buffer buffer;
    struct text rest = path, name;
    bool valid = path.length > 0 && path.length <= LONGEST_PATH;
    while (valid && text_next(&rest, '/', &name))
        valid = name.length > 0;
    if (!valid || !path_is_plain(path) || memchr(path.data, '\0', path.length))
        return error_set(error,
                         "\"%s\" is not a path in the templates repository; expected one from its "
                         "top, such as common/part.yaml, without . and ..",
                         error_quote(&buffer, path.data, path.length));
    return 0;
}

static struct file *get_file(struct repository *repository, struct text path, struct error *error)
{
    struct error_quote_buffer buffer;
    if (!repository->served) {
        error_set(error, "templates repository %s: no commit is served", repository->path);
        return NULL;
    }
    if (check_path(path, error))
        return NULL;
    struct file *file = snapshot_find(repository->served, path);
    if (!file) {
        error_set(error, "there is no file %s in the templates repository at commit %.7s",
                  error_quote(&buffer, path.data, path.length), repository->served->commit);
        return NULL;
    }
    if (!file->content.data) {
        error_set(error, "%s cannot be used: %s", error_quote(&buffer, path.data, path.length),
                  file->unread);
        return NULL;
    }
    return file;
}

int repository_read(struct repository *repository, const char *path, struct text *content,
                    struct error *error)
{
    const struct file *file = get_file(repository, text_of(path), error);
    if (!file)
        return -1;
    *content = file->content;
    return 0;
}

struct text repository_file(struct repository *repository, const char *path)
{
    const struct file *file = snapshot_find(repository->served, text_of(path));
    return file ? file->content : (struct text){NULL, 0};
}

bool repository_has(struct repository *repository, const char *path)
{
    return snapshot_find(repository->served, text_of(path)) != NULL;
}

static struct file *get_parsed(struct repository *repository, struct text path, struct error *error)
{
    struct file *file = get_file(repository, path, error);
    if (!file)
        return NULL;
    struct arena *arena = repository->served->arena;
    if (!file->tree && !file->fault) {
        struct error fault;
        file->tree =
            yaml_read(arena, file->content, file->path.data, &template_yaml_limits, &fault);
        if (!file->tree)
            file->fault = arena_string(arena, fault.text);
    }
    if (file->fault) {
        error_set(error, "%s", file->fault);
        return NULL;
    }
    return file;
}

const struct value *repository_tree(struct repository *repository, struct text path,
                                    struct error *error)
{
    const struct file *file = get_parsed(repository, path, error);
    return file ? file->tree : NULL;
}

const struct template *repository_template(struct repository *repository, struct text path,
                                           struct error *error)
{
    struct file *file = get_parsed(repository, path, error);
    if (!file)
        return NULL;
    if (!file->template)
        file->template = template_compile(repository->served->arena, file->tree, file->path.data);
    return file->template;
}

const struct images *repository_images(struct repository *repository, struct error *error)
{
    const struct snapshot *served = repository->served;
    if (!served || !served->images)
        error_set(error, "%s", served ? served->images_fault : "no commit is served");
    return served ? served->images : NULL;
}

const struct value *repository_site(struct repository *repository, struct error *error)
{
    const struct snapshot *served = repository->served;
    if (!served || !served->site)
        error_set(error, "%s", served ? served->site_fault : "no commit is served");
    return served ? served->site : NULL;
}

int repository_walk(struct repository *repository, repository_visit *visit, void *context)
{
    const struct snapshot *served = repository->served;
    for (size_t i = 0; served && i < served->count; i++) {
        int result = visit(context, served->files[i].path.data);
        if (result)
            return result;
    }
    return 0;
}
