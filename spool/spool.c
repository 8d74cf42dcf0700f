/* spool/spool.c - the spool's directories */
#include "spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const state_names[STATE_COUNT] = {"rendered", "submitted", "failed", "held",
                                                     "done"};

enum {
    PUBLIC_DIRECTORY = 0755,
    PRIVATE_DIRECTORY = 0700,
    DROP_DIRECTORY = 03777, /* all may drop, only the owner may take: as /tmp, and set-gid */
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

const char *spool_state_name(enum state state)
{
    return state_names[state];
}

static int make_directory(int root, const char *name, mode_t mode, struct error *error)
{
    if (sys.mkdirat(root, name, mode)) {
        if (errno == EEXIST)
            return 0;
        return error_errno(error, "the directory %s could not be made", name);
    }
    int directory = sys.openat(root, name, OPEN_DIRECTORY, 0);
    if (directory < 0)
        return error_errno(error, "the directory %s could not be opened", name);
    int result = sys.fchmod(directory, mode); /* the umask cuts mkdir's mode */
    if (result)
        error_errno(error, "the mode of %s could not be set to %o", name, (unsigned int)mode);
    sys.close(directory);
    return result;
}

/* Check that new files are ours.  They are not on an NFS server that maps root to nobody, or
 * maps our number to another. */
static int check_ownership(int root, struct error *error)
{
    const char probe[] = ".probe";
    struct stat status;
    if (sys.mkdirat(root, probe, PRIVATE_DIRECTORY) && errno != EEXIST)
        return error_errno(error, "nothing can be made in the spool's directory");
    int result = sys.fstatat(root, probe, &status, AT_SYMLINK_NOFOLLOW);
    sys.unlinkat(root, probe, AT_REMOVEDIR);
    if (result)
        return error_errno(error, "what was made in the spool's directory could not be looked at");
    if (status.st_uid == geteuid())
        return 0;
    return error_set(error, "what user %u makes here belongs to user %u%s", (unsigned int)geteuid(),
                     (unsigned int)status.st_uid,
                     geteuid() == 0
                         ? ": the file server takes root for somebody else (root_squash); "
                           "make and serve the spool as an ordinary user"
                         : ": the file server maps users to other ids");
}

int spool_check_service(const struct spool *spool, struct error *error)
{
    if (spool->claims >= 0 && spool->new_jobs >= 0)
        return 0;
    return error_set(error, "user %u may not serve %s, which belongs to user %u%s",
                     (unsigned int)geteuid(), spool->path, (unsigned int)spool->owner,
                     geteuid() == 0 ? ": its file server takes root for somebody else "
                                      "(root_squash); run it as that user"
                                    : "; run it as that user");
}

int spool_create(const char *path, struct error *error)
{
    if (mkdir(path, PUBLIC_DIRECTORY) && errno != EEXIST)
        return error_errno(error, "the directory %s could not be made", path);
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return error_errno(error, "%s could not be opened", path);
    int result = check_ownership(root, error);
    if (!result)
        result = make_directory(root, "incoming", DROP_DIRECTORY, error);
    for (int i = 0; i < STATE_COUNT && !result; i++)
        result = make_directory(root, state_names[i], PUBLIC_DIRECTORY, error);
    if (!result)
        result = make_directory(root, ".claims", PRIVATE_DIRECTORY, error);
    if (!result)
        result = make_directory(root, ".new", PRIVATE_DIRECTORY, error);
    if (!result && sys.fsync(root))
        result = error_errno(error, "%s could not be made durable", path);
    sys.close(root);
    return result;
}

static int open_part(struct spool *spool, const char *name, int *part, struct error *error)
{
    *part = sys.openat(spool->root, name, OPEN_DIRECTORY, 0);
    if (*part >= 0)
        return 0;
    if (errno == EACCES && name[0] == '.') {
        *part = -1; /* the commands of users do not need the private directories */
        return 0;
    }
    return error_errno(error,
                       "%s is not a spool: its directory %s could not be opened "
                       "(dlspool init DIR makes one)",
                       spool->path, name);
}

int spool_open(struct spool *spool, const char *path, struct error *error)
{
    *spool = (struct spool){.root = -1, .incoming = -1, .claims = -1, .new_jobs = -1};
    for (int i = 0; i < STATE_COUNT; i++)
        spool->states[i] = -1;
    char *absolute = realpath(path, NULL);
    if (!absolute)
        return error_errno(error, "the spool %s could not be found", path);
    size_t length = strlen(absolute);
    if (length >= sizeof(spool->path)) {
        free(absolute);
        return error_set(error, "the path of the spool is longer than %d bytes", PATH_MAX - 1);
    }
    memcpy(spool->path, absolute, length + 1);
    free(absolute);
    spool->root = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spool->root < 0)
        return error_errno(error, "the spool %s could not be opened", spool->path);
    int result = open_part(spool, "incoming", &spool->incoming, error);
    for (int i = 0; i < STATE_COUNT && !result; i++)
        result = open_part(spool, state_names[i], &spool->states[i], error);
    if (!result)
        result = open_part(spool, ".claims", &spool->claims, error);
    if (!result)
        result = open_part(spool, ".new", &spool->new_jobs, error);
    struct stat status;
    if (!result && sys.fstat(spool->root, &status))
        result = error_errno(error, "the spool %s could not be looked at", spool->path);
    if (result)
        spool_close(spool);
    else
        spool->owner = status.st_uid;
    return result;
}

static void close_part(int *part)
{
    if (*part > 0)
        sys.close(*part);
    *part = -1;
}

void spool_close(struct spool *spool)
{
    close_part(&spool->root);
    close_part(&spool->incoming);
    close_part(&spool->claims);
    close_part(&spool->new_jobs);
    for (int i = 0; i < STATE_COUNT; i++)
        close_part(&spool->states[i]);
}

int spool_sync(struct spool *spool, struct error *error)
{
    if (spool->sync_mode == SYNC_NONE)
        return 0;
    if (sys.syncfs(spool->root))
        return error_errno(error, "%s: the file system could not be synced", spool->path);
    return 0;
}

int spool_sync_directory(struct spool *spool, int directory, const char *name, struct error *error)
{
    if (spool->sync_mode == SYNC_NONE)
        return 0;
    if (sys.fsync(directory))
        return error_errno(error, "the directory %s could not be synced", name);
    return 0;
}

int spool_sync_state(struct spool *spool, enum state state, struct error *error)
{
    return spool_sync_directory(spool, spool->states[state], state_names[state], error);
}

void spool_notify_failed(const struct spool *spool)
{
    sys.utimensat(spool->states[STATE_FAILED], NULL, NULL, 0);
}

void spool_notify_rendered(const struct spool *spool)
{
    sys.utimensat(spool->states[STATE_RENDERED], NULL, NULL, 0);
}
