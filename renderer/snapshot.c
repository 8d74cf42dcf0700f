/* renderer/snapshot.c - the files of one commit, read once
 *
 * libgit2 verifies the hash of every object it reads, so a damaged object is an error and never
 * wrong bytes.  Symbolic links and submodules of the tree are never followed.
 */
#include "renderer/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"

const struct yaml_limits template_yaml_limits = {
    .bytes = LARGEST_FILE, .nodes = 100000, .depth = 100};

/* Where a commit is read from and to. */
struct reading {
    git_repository *git;
    git_odb *objects;
    struct snapshot *snapshot;
    struct error *error;
};

const char *snapshot_git_problem(void)
{
    const git_error *last = git_error_last();
    return last && last->message ? last->message : "libgit2 gives no reason";
}

void snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    arena_free(snapshot->arena);
    free(snapshot->files);
    free(snapshot);
}

static bool is_read(struct text path)
{
    return text_ends(path, ".yaml") || text_ends(path, ".txt");
}

/* Read the file's bytes.  Only an object that cannot be read is a failure. */
static int read_content(struct reading *reading, struct file *file)
{
    struct snapshot *snapshot = reading->snapshot;
    git_odb_object *object = NULL;
    git_object_t type;
    size_t size;
    int result = -1;
    if (git_odb_read_header(&size, &type, reading->objects, &file->id))
        goto failed;
    if (size > LARGEST_FILE) {
        file->unread =
            arena_printf(snapshot->arena, "it has %zu bytes; files of at most %d are read", size,
                         LARGEST_FILE)
                .data;
        return 0;
    }
    snapshot->bytes += size;
    if (snapshot->bytes > LARGEST_COMMIT)
        return error_set(reading->error, "its .yaml and .txt files hold more than %d bytes",
                         LARGEST_COMMIT);
    if (git_odb_read(&object, reading->objects, &file->id))
        goto failed;
    file->content =
        arena_text(snapshot->arena, git_odb_object_data(object), git_odb_object_size(object));
    result = 0;
failed:
    if (result) {
        struct error_quote_buffer buffer;
        error_set(reading->error, "%s cannot be read: %s",
                  error_quote(&buffer, file->path.data, file->path.length), snapshot_git_problem());
    }
    git_odb_object_free(object);
    return result;
}

static int add_file(struct reading *reading, struct text path, const git_tree_entry *entry)
{
    struct snapshot *snapshot = reading->snapshot;
    if (snapshot->count == MOST_FILES)
        return error_set(reading->error, "it holds more than %d files", MOST_FILES);
    snapshot->files = memory_grow(snapshot->files, snapshot->count, &snapshot->capacity,
                                  sizeof(*snapshot->files));
    struct file *file = &snapshot->files[snapshot->count++];
    *file = (struct file){.path = arena_text(snapshot->arena, path.data, path.length),
                          .id = *git_tree_entry_id(entry),
                          .mode = git_tree_entry_filemode(entry)};
    if (file->mode == GIT_FILEMODE_LINK)
        file->unread = "it is a symbolic link, which is not followed";
    else if (file->mode == GIT_FILEMODE_COMMIT)
        file->unread = "it is a submodule, which is not read";
    else if (!is_read(file->path))
        file->unread = "only files whose names end in .yaml or .txt are read";
    else
        return read_content(reading, file);
    return 0;
}

/* Add the files of a tree, and of those below it.  `path` holds the tree's own path. */
static int read_tree(struct reading *reading, const git_oid *id, struct buffer *path, int depth)
{
    git_tree *tree = NULL;
    size_t length = path->length;
    int result = -1;
    if (depth > DEEPEST_DIRECTORY)
        return error_set(reading->error, "its directories nest more than %d deep",
                         DEEPEST_DIRECTORY);
    if (git_tree_lookup(&tree, reading->git, id)) {
        struct error_quote_buffer buffer;
        return error_set(reading->error, "directory \"%s\" cannot be read: %s",
                         error_quote(&buffer, path->data, path->length), snapshot_git_problem());
    }
    for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        path->length = length;
        buffer_add_string(path, git_tree_entry_name(entry));
        if (path->length > LONGEST_PATH) {
            error_set(reading->error, "it holds a path of more than %d bytes", LONGEST_PATH);
            goto done;
        }
        if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
            buffer_add_byte(path, '/');
            if (read_tree(reading, git_tree_entry_id(entry), path, depth + 1))
                goto done;
        } else if (add_file(reading, buffer_text(path), entry)) {
            goto done;
        }
    }
    path->length = length;
    result = 0;
done:
    git_tree_free(tree);
    return result;
}

static int compare_files(const void *a, const void *b)
{
    return text_compare(((const struct file *)a)->path, ((const struct file *)b)->path);
}

struct file *snapshot_find(const struct snapshot *snapshot, struct text path)
{
    struct file key = {.path = path};
    if (!snapshot || snapshot->count == 0)
        return NULL;
    return bsearch(&key, snapshot->files, snapshot->count, sizeof(key), compare_files);
}

/* The content of a file that every commit must have. */
static const struct file *find_required(struct snapshot *snapshot, const char *name,
                                        struct error *error)
{
    const struct file *file = snapshot_find(snapshot, text_of(name));
    if (!file)
        error_set(error, "%s is missing", name);
    else if (!file->content.data)
        error_set(error, "%s: %s", name, file->unread);
    return file && file->content.data ? file : NULL;
}

static void read_tables(struct snapshot *snapshot)
{
    struct error error;
    const struct file *file = find_required(snapshot, "images.txt", &error);
    if (file)
        snapshot->images = images_parse(snapshot->arena, file->content, "images.txt", &error);
    if (!snapshot->images)
        snapshot->images_fault = arena_string(snapshot->arena, error.text);

    file = find_required(snapshot, "site.yaml", &error);
    if (file)
        snapshot->site =
            yaml_read(snapshot->arena, file->content, "site.yaml", &template_yaml_limits, &error);
    if (snapshot->site && snapshot->site->kind != VALUE_OBJECT) {
        error_set(&error, "site.yaml:1: holds a value of kind %s, expected an object",
                  value_kind_name(snapshot->site->kind));
        snapshot->site = NULL;
    }
    if (!snapshot->site)
        snapshot->site_fault = arena_string(snapshot->arena, error.text);
}

struct snapshot *snapshot_read(git_repository *git, git_odb *objects, const git_oid *id,
                               struct error *error)
{
    struct snapshot *snapshot = memory_allocate(sizeof(*snapshot));
    struct reading reading = {git, objects, snapshot, error};
    struct buffer path = {0};
    git_commit *commit = NULL;
    int result = -1;
    snapshot->arena = arena_new();
    snapshot->id = *id;
    git_oid_tostr(snapshot->commit, sizeof(snapshot->commit), id);
    if (git_commit_lookup(&commit, git, id)) {
        error_set(error, "the commit cannot be read: %s", snapshot_git_problem());
        goto done;
    }
    if (read_tree(&reading, git_commit_tree_id(commit), &path, 1))
        goto done;
    if (snapshot->count)
        qsort(snapshot->files, snapshot->count, sizeof(*snapshot->files), compare_files);
    read_tables(snapshot);
    result = 0;
done:
    git_commit_free(commit);
    buffer_free(&path);
    if (result) {
        snapshot_free(snapshot);
        return NULL;
    }
    return snapshot;
}
