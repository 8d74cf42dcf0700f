/* executors/local/staging.c - holds what is to be mounted where nobody else can exchange it */
#include "executors/local/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 + 512, NAME_SIZE = 320 };

static void place_path(char buffer[static PATH_SIZE], const char *storage, const char *job)
{
    snprintf(buffer, PATH_SIZE, "%s/mounts/%s", storage, job);
}

void staging_drop(const char *storage, int directory, const char *job)
{
    char path[PATH_SIZE], name[NAME_SIZE];
    place_path(path, storage, job);
    while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    snprintf(name, sizeof(name), "mounts/%s", job);
    unlinkat(directory, name, AT_REMOVEDIR);
}

void staging_close(struct staging *staging)
{
    if (staging->place >= 0)
        close(staging->place);
    staging->place = -1;
}

static int make_place(struct staging *staging, struct error *error)
{
    char path[PATH_SIZE], name[NAME_SIZE];
    place_path(path, staging->storage, staging->job);
    snprintf(name, sizeof(name), "mounts/%s", staging->job);
    staging_drop(staging->storage, staging->directory, staging->job);
    if ((mkdirat(staging->directory, "mounts", 0700) && errno != EEXIST) ||
        (mkdirat(staging->directory, name, 0700) && errno != EEXIST))
        return error_errno(error, "%s in the local executor's storage could not be made", name);
    if (mount("dlspool", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "mode=0700,size=64k,nr_inodes=64k") ||
        mount(NULL, path, NULL, MS_PRIVATE, NULL))
        return error_errno(error, "%s in the local executor's storage could not be mounted", name);
    staging->place =
        openat(staging->directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (staging->place < 0)
        return error_errno(error, "%s in the local executor's storage could not be opened", name);
    return 0;
}

/* Make the mount point, which must be of the same kind as what is mounted there. */
static int make_point(int place, const char *name, int descriptor)
{
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status))
        return -1;
    if (S_ISDIR(status.stx_mode))
        return mkdirat(place, name, 0700);
    int file = openat(place, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return file < 0 ? -1 : close(file);
}

/* The copy of the user's mount becomes private before it is mounted: otherwise mounts and unmounts below the
 * original would propagate to the copy, and those below the copy to the original. */
enum staging_outcome staging_add(struct staging *staging, size_t number, int descriptor,
                                 struct error *error)
{
    struct mount_attr attributes = {.propagation = MS_PRIVATE};
    enum staging_outcome outcome = STAGING_FAILED;
    char name[32];
    if (staging->place < 0 && make_place(staging, error))
        return STAGING_FAILED;
    int tree = open_tree(descriptor, "",
                         AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0 && errno == EINVAL) {
        error_set(error, "it is mounted only in a container, or may not be mounted twice");
        return STAGING_REFUSED;
    }
    snprintf(name, sizeof(name), "%zu", number);
    if (tree < 0 ||
        mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) ||
        make_point(staging->place, name, descriptor) ||
        move_mount(tree, "", staging->place, name, MOVE_MOUNT_F_EMPTY_PATH))
        error_errno(error, "mounts/%s/%s in the local executor's storage could not be mounted",
                    staging->job, name);
    else
        outcome = STAGING_DONE;
    if (tree >= 0)
        close(tree);
    return outcome;
}
