/* executors/local/storage.c - the local executor's own directory
 *
 * The files hold nothing that cannot be made again, so nothing here is synced but notes of
 * refusals, and keys for ssh, the same for all tasks of an attempt.
 */
#include "executors/local/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/system.h"
#include "executors/ssh_key.h"

enum { DEPTH_MAX = 6, NAME_ROOM = 512 };

int local_storage_open(const char *path, struct error *error)
{
    struct error_quote_buffer buffer;
    const char *quoted = error_quote(&buffer, path, strlen(path));
    if (sys.mkdirat(AT_FDCWD, path, 0700) && errno != EEXIST)
        return error_errno(error,
                           "%s, where the local executor is to keep its files, could not "
                           "be made",
                           quoted);
    int directory = sys.openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return error_errno(error,
                           "%s, where the local executor keeps its files, could not be "
                           "opened",
                           quoted);
    struct stat status;
    if (sys.fstat(directory, &status))
        error_errno(error, "%s could not be looked at", quoted);
    else if (status.st_uid != geteuid())
        error_set(error,
                  "%s belongs to user %u, expected the user that dlspool runs as (%u): "
                  "whoever owns it could change what containers do",
                  quoted, status.st_uid, geteuid());
    else if (sys.fchmod(directory, 0700) ||
             (sys.mkdirat(directory, "jobs", 0700) && errno != EEXIST))
        error_errno(error, "%s could not be made ready", quoted);
    else
        return directory;
    sys.close(directory);
    return -1;
}

/* ---- removing ---- */

struct removal {
    int directory;
    int depth;
};

static int remove_tree(int parent, const char *name, int depth);

static int remove_entry(void *context, const char *name, unsigned char type)
{
    (void)type;
    const struct removal *removal = context;
    return remove_tree(removal->directory, name, removal->depth + 1);
}

static int remove_tree(int parent, const char *name, int depth)
{
    if (sys.unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if ((errno != EISDIR && errno != EPERM) || depth > DEPTH_MAX)
        return -1;
    struct removal removal = {
        .directory = sys.openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0),
        .depth = depth,
    };
    if (removal.directory < 0)
        return -1;
    int result = directory_walk(removal.directory, remove_entry, &removal);
    int keep = errno;
    sys.close(removal.directory);
    errno = keep;
    return result ? -1 : sys.unlinkat(parent, name, AT_REMOVEDIR);
}

int local_storage_remove_job(int storage, const char *job, struct error *error)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof(name), "jobs/%s", job);
    if (remove_tree(storage, name, 0) && errno != ENOENT)
        return error_errno(error, "%s in the local executor's storage could not be removed", name);
    return 0;
}

int local_storage_empty_job(int storage, const char *job, struct error *error)
{
    static const char *const parts[] = {"files", "logs", "ssh", "ssh.new", "sources"};
    char name[NAME_ROOM];
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        snprintf(name, sizeof(name), "jobs/%s/%s", job, parts[i]);
        if (remove_tree(storage, name, 0) && errno != ENOENT)
            return error_errno(error, "%s in the local executor's storage could not be removed",
                               name);
    }
    return 0;
}

/* ---- making ---- */

int local_storage_make_job(int storage, const char *job, struct error *error)
{
    static const char *const parts[] = {"", "/files", "/logs"};
    char name[NAME_ROOM];
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        snprintf(name, sizeof(name), "jobs/%s%s", job, parts[i]);
        if (sys.mkdirat(storage, name, 0700) && errno != EEXIST)
            return error_errno(error, "%s in the local executor's storage could not be made", name);
    }
    return 0;
}

static int write_content(int file, struct text content, mode_t mode, uid_t owner, gid_t group,
                         const char *name, struct error *error)
{
    if (file_write_all(file, content, name, error))
        return -1;
    if (geteuid() == 0 && sys.fchown(file, owner, group))
        return error_errno(error, "%s could not be given to user %u", name, owner);
    if (sys.fchmod(file, mode))
        return error_errno(error, "the mode of %s could not be set", name);
    return 0;
}

int local_storage_write_file(int storage, const char *job, const char *task, size_t number,
                             struct text content, mode_t mode, uid_t owner, gid_t group,
                             struct error *error)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof(name), "jobs/%s/files/%s", job, task);
    if (sys.mkdirat(storage, name, 0700) && errno != EEXIST)
        return error_errno(error, "%s in the local executor's storage could not be made", name);
    snprintf(name, sizeof(name), "jobs/%s/files/%s/%zu", job, task, number);
    /* A new inode: the old one may be mounted into a container that is being adopted. */
    if (sys.unlinkat(storage, name, 0) && errno != ENOENT)
        return error_errno(error, "%s in the local executor's storage could not be replaced", name);
    int file =
        sys.openat(storage, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return error_errno(error, "%s in the local executor's storage could not be made", name);
    int result = write_content(file, content, mode, owner, group, name, error);
    if (sys.close(file) && result == 0)
        result =
            error_errno(error, "%s in the local executor's storage could not be written", name);
    return result;
}

/* ---- keys ---- */

static int write_key_file(int directory, const char *name, const char *content, mode_t mode,
                          uid_t owner, gid_t group, struct error *error)
{
    int file =
        sys.openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return error_errno(error, "%s could not be made", name);
    int result = write_content(file, text_of(content), mode, owner, group, name, error);
    if (result == 0 && sys.fsync(file))
        result = error_errno(error, "%s could not be made durable", name);
    sys.close(file);
    return result;
}

static int write_key_files(int directory, uid_t owner, gid_t group, struct error *error)
{
    struct ssh_key key;
    if (ssh_key_make(&key, error))
        return -1;
    int result = 0;
    if (write_key_file(directory, "id", key.id, 0400, owner, group, error) ||
        write_key_file(directory, "id.pub", key.id_pub, 0444, owner, group, error) ||
        write_key_file(directory, "authorized_keys", key.authorized_keys, 0444, owner, group,
                       error) ||
        write_key_file(directory, "known_hosts", key.known_hosts, 0444, owner, group, error))
        result = -1;
    else if (geteuid() == 0 && sys.fchown(directory, owner, group))
        result = error_errno(error, "the directory of keys could not be given to user %u", owner);
    else if (sys.fsync(directory))
        result = error_errno(error, "the directory of keys could not be made durable");
    ssh_key_wipe(&key);
    return result;
}

/* Write them into ssh.new, which becomes ssh when it is whole. */
static int make_keys(int job, uid_t owner, gid_t group, struct error *error)
{
    if (remove_tree(job, "ssh.new", 0) && errno != ENOENT)
        return error_errno(error, "ssh.new could not be removed");
    if (sys.mkdirat(job, "ssh.new", 0700))
        return error_errno(error, "ssh.new could not be made");
    int directory = sys.openat(job, "ssh.new", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (directory < 0)
        return error_errno(error, "ssh.new could not be opened");
    int result = write_key_files(directory, owner, group, error);
    sys.close(directory);
    if (result == 0 && (sys.renameat(job, "ssh.new", job, "ssh") || sys.fsync(job)))
        result = error_errno(error, "ssh.new could not be renamed to ssh");
    return result;
}

int local_storage_write_keys(int storage, const char *job, uid_t owner, gid_t group,
                             struct error *error)
{
    char name[NAME_ROOM];
    struct stat status;
    snprintf(name, sizeof(name), "jobs/%s", job);
    int directory = sys.openat(storage, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (directory < 0)
        return error_errno(error, "%s in the local executor's storage could not be opened", name);
    int result = 0;
    if (sys.fstatat(directory, "ssh", &status, AT_SYMLINK_NOFOLLOW))
        result = errno == ENOENT ? make_keys(directory, owner, group, error)
                                 : error_errno(error, "%s/ssh could not be looked at", name);
    sys.close(directory);
    return result ? error_prefix(error, "the job's keys for ssh could not be made") : 0;
}

/* ---- notes ---- */

int local_storage_write_note(int storage, const char *job, const char *name, struct text content,
                             struct error *error)
{
    char path[NAME_ROOM];
    snprintf(path, sizeof(path), "jobs/%s", job);
    int directory = sys.openat(storage, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    int file = directory < 0
                   ? -1
                   : sys.openat(directory, name,
                                O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int result = 0;
    if (file < 0 || file_write_all(file, content, path, error) || sys.fsync(file) ||
        sys.fsync(directory))
        result = error_errno(error, "%s/%s in the local executor's storage could not be made", path,
                             name);
    if (file >= 0)
        sys.close(file);
    if (directory >= 0)
        sys.close(directory);
    return result;
}

int local_storage_read_note(int storage, const char *job, const char *name, size_t limit,
                            struct buffer *content, struct error *error)
{
    char path[NAME_ROOM];
    snprintf(path, sizeof(path), "jobs/%s/%s", job, name);
    if (file_read_at(storage, path, limit, content, error) == 0)
        return 1;
    return errno == ENOENT ? 0 : -1;
}

int local_storage_note_refusal(int storage, const char *job, const char *sentence,
                               struct error *error)
{
    return local_storage_write_note(storage, job, "refused", text_of(sentence), error);
}

int local_storage_read_refusal(int storage, const char *job, struct buffer *sentence,
                               struct error *error)
{
    return local_storage_read_note(storage, job, "refused", ERROR_TEXT_SIZE, sentence, error);
}

int local_storage_forget_refusal(int storage, const char *job, struct error *error)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof(name), "jobs/%s", job);
    int directory = sys.openat(storage, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (directory < 0 && errno == ENOENT)
        return 0;
    int result = 0;
    if (directory < 0 ||
        (sys.unlinkat(directory, "refused", 0) ? errno != ENOENT : sys.fsync(directory)))
        result = error_errno(error,
                             "%s/refused in the local executor's storage could not be "
                             "removed",
                             name);
    if (directory >= 0)
        sys.close(directory);
    return result;
}

int local_storage_logs(int storage, const char *job)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof(name), "jobs/%s/logs", job);
    return sys.openat(storage, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}
