/* spool/handed_directory.c - directories of the spool that root makes and hands to who reads job files */
#include "spool/handed_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0755 };

int handed_directory_make(const struct spool *spool, const char *name, uid_t user, gid_t group,
                          struct error *error)
{
    if (sys.mkdirat(spool->root, name, DIRECTORY_MODE) && errno != EEXIST)
        return error_errno(error, "the directory %s could not be made", name);
    int directory = handed_directory_open(spool, name);
    if (directory < 0)
        return error_errno(error, "the directory %s could not be opened", name);
    int result = sys.fchmod(directory, DIRECTORY_MODE);
    if (!result && geteuid() == 0 && user != (uid_t)-1)
        result = sys.fchown(directory, user, group);
    if (result)
        error_errno(error, "owner and mode of %s could not be set", name);
    sys.close(directory);
    return result;
}

int handed_directory_open(const struct spool *spool, const char *name)
{
    return sys.openat(spool->root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}
