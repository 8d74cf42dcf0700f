/* spool/file.c - writes the files of a job's directory */
#include "spool/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/system.h"

enum { PRIVATE_FILE = 0640 };

static const uid_t no_user = (uid_t)-1;
static const gid_t no_group = (gid_t)-1;

static uid_t reader = (uid_t)-1; /* `user:`; -1: there is none */

void spool_file_give_to(uid_t user)
{
    reader = user;
}

int spool_file_give(int file, int directory, gid_t group)
{
    struct stat status;
    uid_t user = no_user;
    if (reader != no_user && geteuid() == 0) {
        if (sys.fstat(directory, &status))
            return -1;
        user = status.st_uid == reader ? reader : no_user;
    }
    if (user == no_user && group == no_group)
        return 0;
    return sys.fchown(file, user, group);
}

/* Create a file.  `durable`: its bytes are on the disk on return, as they must be before a
 * rename replaces another file.  The files of a new job are made durable together, by
 * spool_sync(). */
static int create_file(int job, const char *name, struct text bytes, mode_t mode, gid_t group,
                       bool durable, struct error *error)
{
    int file = sys.openat(job, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0)
        return error_errno(error, "%s could not be made", name);
    /* Only root may give files away; others keep their own group. */
    int result = 0;
    if (spool_file_give(file, job, group) && errno != EPERM)
        result = error_errno(error, "the owner of %s could not be set", name);
    if (!result)
        result = file_write_all(file, bytes, name, error);
    if (!result && durable && sys.fsync(file))
        result = error_errno(error, "%s could not be made durable", name);
    if (sys.close(file) && !result)
        result = error_errno(error, "%s could not be written", name);
    return result;
}

int spool_file_create(int job, const char *name, struct text bytes, mode_t mode,
                      struct error *error)
{
    return create_file(job, name, bytes, mode, no_group, false, error);
}

int spool_file_create_private(int job, const char *name, struct text bytes, gid_t group,
                              struct error *error)
{
    return create_file(job, name, bytes, PRIVATE_FILE, group, false, error);
}

int spool_file_damaged(int job, const char *name)
{
    char damaged[NAME_MAX + 1];
    snprintf(damaged, sizeof(damaged), "%s.damaged", name);
    return file_rename(job, name, job, damaged);
}

static int replace_file(int job, const char *name, struct text bytes, mode_t mode, gid_t group,
                        bool durable, struct error *error)
{
    char aside[NAME_MAX + 1];
    snprintf(aside, sizeof(aside), ".%s.new", name);
    if (sys.unlinkat(job, aside, 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", aside);
    if (create_file(job, aside, bytes, mode, group, durable, error))
        return -1;
    if (!file_rename(job, aside, job, name))
        return 0;
    /* A directory has the name, and rename() cannot replace it. */
    if (errno == EISDIR && !spool_file_damaged(job, name) && !sys.renameat(job, aside, job, name))
        return 0;
    return error_errno(error, "%s could not be put in place", name);
}

int spool_file_replace(int job, const char *name, struct text bytes, mode_t mode,
                       struct error *error)
{
    return replace_file(job, name, bytes, mode, no_group, true, error);
}

int spool_file_renew(int job, const char *name, struct text bytes, mode_t mode, struct error *error)
{
    return replace_file(job, name, bytes, mode, no_group, false, error);
}

int spool_file_replace_private(int job, const char *name, struct text bytes, gid_t group,
                               struct error *error)
{
    return replace_file(job, name, bytes, PRIVATE_FILE, group, true, error);
}

int spool_file_open_lock(int directory, const char *name)
{
    struct stat status;
    int file = sys.openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 && !sys.fstat(file, &status) && (status.st_mode & (S_IRWXG | S_IRWXO)))
        (void)sys.fchmod(file, S_IRUSR | S_IWUSR);
    return file;
}
