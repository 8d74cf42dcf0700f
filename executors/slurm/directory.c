/* executors/slurm/directory.c - where the files of Slurm's jobs are kept */
#include "executors/slurm/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/json.h"
#include "base/system.h"

enum {
    OWN_MODE = 0711, /* the job's user passes through, and sees nothing */
    USER_MODE = 0700,
    SHARED_MODE = 02770, /* where we read what is the user's through our group */
    SUBMISSION_LIMIT = 32 << 20,
    DEPTH_MOST = 32,
    REMOVED_AT_ONCE = 5000 /* files */
};

static const char gone[] = ".gone-";
static const int open_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

void slurm_directory_name(char buffer[static SLURM_NAME_SIZE], const char *id, int attempt)
{
    snprintf(buffer, SLURM_NAME_SIZE, "%s-a%d", id, attempt);
}

int slurm_directory_open(const char *path, struct error *error)
{
    struct error_quote_buffer buffer;
    struct stat status;
    const char *quoted = error_quote(&buffer, path, strlen(path));
    bool made = sys.mkdirat(AT_FDCWD, path, OWN_MODE) == 0;
    if (!made && errno != EEXIST)
        return error_errno(error,
                           "%s, where jobs' files for Slurm are kept (slurm.directory), could "
                           "not be made",
                           quoted);
    int root = sys.openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (root < 0)
        return error_errno(error, "%s (slurm.directory) could not be opened", quoted);
    if (sys.fstat(root, &status))
        error_errno(error, "%s (slurm.directory) could not be looked at", quoted);
    else if (status.st_uid != geteuid())
        error_set(error,
                  "%s (slurm.directory) belongs to user %u, expected the user that dlspool "
                  "runs as (%u): whoever owns it could change what jobs do; where root may "
                  "not write (an NFS export with root_squash), run dlspool as another user",
                  quoted, status.st_uid, geteuid());
    else if (!made && status.st_mode & (S_IWGRP | S_IWOTH))
        error_set(error,
                  "%s (slurm.directory) has mode %04o, so that others may write to it: "
                  "expected 0711",
                  quoted, (unsigned int)status.st_mode & 07777);
    else if (made && sys.fchmod(root, OWN_MODE))
        error_errno(error, "%s (slurm.directory) could not be made ready", quoted);
    else
        return root;
    sys.close(root);
    return -1;
}

/* ---- files of our own ---- */

static int write_file(int directory, const char *file, int flags, struct text content, bool durable,
                      struct error *error)
{
    int target =
        sys.openat(directory, file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (target < 0)
        return error_errno(error, "%s could not be made", file);
    int result = file_write_all(target, content, file, error);
    if (!result && durable && sys.fsync(target))
        result = error_errno(error, "%s could not be made durable", file);
    if (sys.close(target) && !result) /* a full NFS export tells it only now */
        result = error_errno(error, "%s could not be written", file);
    return result;
}

static int replace_file(int directory, const char *file, struct text content, bool durable,
                        struct error *error)
{
    char new_name[64];
    snprintf(new_name, sizeof(new_name), "%s.new", file);
    if (write_file(directory, new_name, O_TRUNC, content, durable, error))
        return -1;
    if (sys.renameat(directory, new_name, directory, file))
        return error_errno(error, "%s could not be put in its place", file);
    return 0;
}

static int open_own(int root, const char *name, struct error *error)
{
    int directory = sys.openat(root, name, open_directory, 0);
    return directory < 0
               ? error_errno(error, "the directory %s of slurm.directory could not be opened", name)
               : directory;
}

int slurm_directory_note(int root, const char *name, const char *file, struct text content,
                         struct error *error)
{
    int directory = open_own(root, name, error);
    if (directory < 0)
        return -1;
    int result = replace_file(directory, file, content, true, error);
    if (!result && sys.fsync(directory))
        result = error_errno(error, "%s could not be made durable", name);
    sys.close(directory);
    return result ? error_prefix(error, "slurm.directory, %s", name) : 0;
}

int slurm_directory_add(int root, const char *name, const char *file, struct text line,
                        struct error *error)
{
    int directory = open_own(root, name, error);
    if (directory < 0)
        return -1;
    int result = write_file(directory, file, O_APPEND, line, true, error);
    sys.close(directory);
    return result ? error_prefix(error, "slurm.directory, %s", name) : 0;
}

int slurm_directory_read(int root, const char *name, const char *file, struct buffer *out,
                         struct error *error)
{
    int directory = open_own(root, name, error);
    if (directory < 0)
        return errno == ENOENT ? 0 : -1;
    int result = file_read_at(directory, file, SUBMISSION_LIMIT, out, error);
    bool missing = result && errno == ENOENT;
    sys.close(directory);
    if (missing)
        return 0;
    return result ? error_prefix(error, "slurm.directory, %s", name) : 1;
}

/* ---- what was submitted ---- */

/* Write one line of JSON, and the manifest behind it. */
static void write_facts(struct buffer *out, const struct slurm_facts *facts)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    value_put(arena, tree, "uid", value_number(arena, facts->uid));
    value_put(arena, tree, "gid", value_number(arena, facts->gid));
    value_put(arena, tree, "user", value_text(arena, facts->user));
    value_put(arena, tree, "time_limit", value_number(arena, (double)facts->time_limit));
    if (facts->identity.length)
        value_put(arena, tree, "identity", value_text(arena, facts->identity));
    json_write(out, tree, false, NULL);
    buffer_add_byte(out, '\n');
    buffer_add_text(out, facts->manifest);
    arena_free(arena);
}

int slurm_directory_facts(int root, const char *name, struct arena *arena,
                          struct slurm_facts *facts, struct error *error)
{
    struct buffer bytes = {0};
    int result = slurm_directory_read(root, name, "submission", &bytes, error);
    if (result == 1) {
        struct text all = arena_text(arena, bytes.data ? bytes.data : "", bytes.length), rest = all,
                    line;
        const struct value *tree =
            text_next(&rest, '\n', &line)
                ? json_read(arena, line, "submission", &yaml_request_limits, NULL)
                : NULL;
        double uid = value_get_number(tree, "uid", -1), gid = value_get_number(tree, "gid", -1);
        *facts =
            (struct slurm_facts){.user = value_get_text(tree, "user"),
                                 .time_limit = (int64_t)value_get_number(tree, "time_limit", 0),
                                 .identity = value_get_text(tree, "identity"),
                                 .manifest = rest};
        if (uid < 0 || gid < 0 || !facts->user.data) {
            result = error_set(error, "slurm.directory, %s: submission is damaged", name);
        } else {
            facts->uid = (uid_t)uid;
            facts->gid = (gid_t)gid;
        }
    }
    buffer_free(&bytes);
    return result;
}

/* ---- all ---- */

struct listing {
    slurm_directory_take *take;
    void *context;
};

static int list_entry(void *context, const char *name, unsigned char type)
{
    const struct listing *listing = context;
    (void)type;
    if (name[0] != '.' && strlen(name) < SLURM_NAME_SIZE)
        listing->take(listing->context, name);
    return 0;
}

int slurm_directory_list(int root, slurm_directory_take *take, void *context)
{
    struct listing listing = {take, context};
    return directory_walk(root, list_entry, &listing);
}

/* ---- making ---- */

static int is_passing(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EIO || number == ESTALE ||
           number == EROFS || number == EMFILE || number == ENFILE || number == ENOMEM ||
           number == ETIMEDOUT || number == EHOSTDOWN;
}

/* Give job/ to the job's user.  dlspool reads it as root, or else through its own group. */
static int give_to_user(int directory, const struct slurm_facts *facts, struct error *error)
{
    struct stat status;
    uid_t self = geteuid();
    if (sys.fstat(directory, &status))
        return error_errno(error, "it could not be looked at");
    if (facts->uid == self)
        return sys.fchmod(directory, USER_MODE) ? error_errno(error, "its mode could not be set")
                                                : 0;
    gid_t group = self == 0 ? facts->gid : getegid();
    mode_t mode = self == 0 ? USER_MODE : SHARED_MODE;
    if (status.st_uid == facts->uid && (status.st_mode & 07777) == mode)
        return 0; /* it was made before */
    if (sys.fchmod(directory, mode))
        return error_errno(error, "its mode could not be set");
    if (sys.fchown(directory, facts->uid, group)) {
        int keep = errno;
        struct error_quote_buffer buffer;
        error_errno(error,
                    "it could not be given to user %s, which the job must run as (dlspool must run "
                    "as root, or with CAP_CHOWN, on storage that lets it; or name the user that "
                    "it runs as as slurm.user)",
                    error_quote(&buffer, facts->user.data, facts->user.length));
        errno = keep;
        return -1;
    }
    return 0;
}

/* Make the directory of a job with the facts of its submission, and in it the one that belongs
 * to the user.  What is there already is used. */
static int make_parts(int root, const char *name, const struct slurm_facts *facts,
                      struct error *error)
{
    if (sys.mkdirat(root, name, OWN_MODE) && errno != EEXIST)
        return error_errno(error, "it could not be made");
    int directory = sys.openat(root, name, open_directory, 0), result = 0, number = 0;
    if (directory < 0)
        return error_errno(error, "it could not be opened");
    struct buffer submission = {0};
    write_facts(&submission, facts);
    if (sys.fchmod(directory, OWN_MODE))
        result = error_errno(error, "its mode could not be set");
    else
        result = replace_file(directory, "submission", buffer_text(&submission), false, error);
    int job = -1;
    if (!result && sys.mkdirat(directory, "job", USER_MODE) && errno != EEXIST)
        result = error_errno(error, "its directory job could not be made");
    if (!result && (job = sys.openat(directory, "job", open_directory, 0)) < 0)
        result = error_errno(error, "its directory job could not be opened");
    if (!result)
        result = give_to_user(job, facts, error);
    number = errno;
    if (job >= 0)
        sys.close(job);
    sys.close(directory);
    buffer_free(&submission);
    errno = number;
    return result;
}

int slurm_directory_make(int root, const char *name, const struct slurm_facts *facts,
                         struct error *error)
{
    errno = 0;
    if (make_parts(root, name, facts, error) == 0)
        return 0;
    int passing = is_passing(errno);
    error_prefix(error, "the job's directory %s in slurm.directory", name);
    return passing ? 1 : -1;
}

int slurm_directory_job(int root, const char *name, struct error *error)
{
    int directory = open_own(root, name, error);
    if (directory < 0)
        return -1;
    int job = sys.openat(directory, "job", open_directory, 0);
    if (job < 0)
        error_errno(error, "the directory %s of slurm.directory could not be opened", name);
    int number = errno;
    sys.close(directory);
    errno = number;
    return job;
}

/* ---- removing ---- */

struct removal {
    int top; /* directories that lie too deep are moved up into it */
    int directory;
    int depth;
    int *budget;
};

static int remove_tree(const struct removal *removal, const char *name);

static int remove_entry(void *context, const char *name, unsigned char type)
{
    (void)type;
    return remove_tree(context, name);
}

static int remove_tree(const struct removal *removal, const char *name)
{
    static unsigned int brought;
    if (--*removal->budget < 0) {
        errno = EAGAIN;
        return -1;
    }
    if (sys.unlinkat(removal->directory, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    if (removal->depth > DEPTH_MOST) {
        char higher[64];
        snprintf(higher, sizeof(higher), ".deep-%d-%u", (int)getpid(), brought++);
        return sys.renameat(removal->directory, name, removal->top, higher);
    }
    struct removal inner = {.top = removal->top,
                            .directory = sys.openat(removal->directory, name, open_directory, 0),
                            .depth = removal->depth + 1,
                            .budget = removal->budget};
    if (inner.directory < 0)
        return -1;
    int result = directory_walk(inner.directory, remove_entry, &inner), number = errno;
    sys.close(inner.directory);
    errno = number;
    return result ? -1 : sys.unlinkat(removal->directory, name, AT_REMOVEDIR);
}

static int remove_some(int root, const char *name, int *budget)
{
    int number, result;
    struct removal removal = {.top = root, .directory = root, .budget = budget};
    int top = sys.openat(root, name, open_directory, 0);
    if (top < 0)
        return errno == ENOENT ? 0 : -1;
    removal.top = top;
    result = remove_tree(&removal, name);
    /* Directories that lay too deep were moved up into `top`, which is not empty then. */
    while (result && (errno == ENOTEMPTY || errno == EEXIST) && *budget > 0)
        result = remove_tree(&removal, name);
    number = errno;
    sys.close(top);
    errno = number;
    return result;
}

int slurm_directory_remove(int root, const char *name, struct error *error)
{
    char gone_name[SLURM_NAME_SIZE + sizeof(gone)];
    int budget = REMOVED_AT_ONCE;
    snprintf(gone_name, sizeof(gone_name), "%s%s", gone, name);
    if (sys.renameat(root, name, root, gone_name) && errno != ENOENT && errno != ENOTEMPTY &&
        errno != EEXIST)
        return error_errno(error, "the job's directory %s in slurm.directory could not be removed",
                           name);
    remove_some(root, gone_name, &budget);
    /* The name was taken by an earlier removal, which may be finished now. */
    if (sys.renameat(root, name, root, gone_name) == 0)
        remove_some(root, gone_name, &budget);
    return 0;
}

struct sweep {
    int root;
    int budget; /* of all together */
};

static int sweep_entry(void *context, const char *name, unsigned char type)
{
    struct sweep *sweep = context;
    (void)type;
    if (strncmp(name, gone, strlen(gone)) == 0)
        remove_some(sweep->root, name, &sweep->budget);
    return sweep->budget <= 0;
}

void slurm_directory_sweep(int root)
{
    struct sweep sweep = {.root = root, .budget = REMOVED_AT_ONCE};
    directory_walk(root, sweep_entry, &sweep);
}
