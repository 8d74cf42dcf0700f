/* base/above.c - who could put another directory in a directory's place */
#include "base/above.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/system.h"
#include "base/writable.h"

struct trusted {
    const uid_t *users;
    size_t count;
};

static bool is_trusted(const struct trusted *trusted, uid_t uid)
{
    bool found = uid == 0;
    for (size_t i = 0; i < trusted->count; i++)
        found = found || trusted->users[i] == uid;
    return found;
}

/* The path of an open directory, for a sentence. */
static const char *path_of(int directory, char path[static PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    snprintf(path + (length > 0 ? length : 0), PATH_MAX - (length > 0 ? (size_t)length : 0), "%s",
             length > 0 ? "" : "a directory");
    return path;
}

/* May somebody else rename the entry of this directory that belongs to `below`? */
static int look_at(int directory, const struct stat *status, uid_t below, const char *what,
                   const struct trusted *trusted, struct error *error)
{
    struct writable writable;
    char path[PATH_MAX];
    if (!is_trusted(trusted, status->st_uid))
        return error_set(error,
                         "%s, above %s, belongs to user %u, who could put another in its place and "
                         "so change what root runs for everybody; chown root %s",
                         path_of(directory, path), what, (unsigned)status->st_uid, path);
    if (status->st_mode & S_ISVTX && is_trusted(trusted, below))
        return 0;
    if (writable_look(directory, status, &writable))
        return error_errno(error, "%s, above %s, could not be looked at", path_of(directory, path),
                           what);
    bool others = writable.others;
    for (size_t i = 0; i < writable.group_count; i++)
        others = others || writable.groups[i] != 0;
    return others ? error_set(error,
                              "%s, above %s, may be written to by others than root (its mode is "
                              "%04o), who could put another in its place and so change what root "
                              "runs for everybody; chmod go-w %s, or setfacl -b %s where there is "
                              "an access control list",
                              path_of(directory, path), what, (unsigned)status->st_mode & 07777,
                              path, path)
                  : 0;
}

/* Is it the directory above itself?  Numbers alone do not tell: one that is mounted in itself has those of the one
 * above. */
static bool is_top(int below, int above)
{
    const unsigned mask = STATX_INO | STATX_MNT_ID;
    struct statx one, two;
    return !statx(below, "", AT_EMPTY_PATH, mask, &one) &&
           !statx(above, "", AT_EMPTY_PATH, mask, &two) && one.stx_ino == two.stx_ino &&
           one.stx_dev_major == two.stx_dev_major && one.stx_dev_minor == two.stx_dev_minor &&
           one.stx_mnt_id == two.stx_mnt_id;
}

int above_check(int directory, const char *what, const uid_t *users, size_t count,
                struct error *error)
{
    const struct trusted trusted = {.users = users, .count = count};
    struct stat below, above;
    int at = directory, result = sys.fstat(directory, &below);
    for (bool top = false; !result && !top;) {
        int up = sys.openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        bool closed = up < 0 && errno == EACCES && geteuid() != 0;
        if (up < 0 || sys.fstat(up, &above))
            result = closed
                         ? 0
                         : error_errno(error, "a directory above %s could not be looked at", what);
        else if (!(top = is_top(at, up)))
            result = look_at(up, &above, below.st_uid, what, &trusted, error);
        below = above;
        if (at != directory)
            sys.close(at);
        at = up;
        top = top || up < 0;
    }
    if (at >= 0 && at != directory)
        sys.close(at);
    return result;
}
