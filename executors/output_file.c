/* executors/output_file.c - opening the files that what tasks print is copied to */
#include "executors/output_file.h"

#include <errno.h>
#include <fcntl.h>

#include "base/system.h"

enum { OUTPUT_MODE = 0640 };

/* Only root may give files away; for others the own group has to do. */
static int make_private(int directory, int file, const struct stat *status)
{
    struct stat above;
    if (sys.fstat(directory, &above) ||
        (status->st_gid != above.st_gid && sys.fchown(file, (uid_t)-1, above.st_gid) &&
         errno != EPERM))
        return -1;
    return (status->st_mode & 07777) != OUTPUT_MODE ? sys.fchmod(file, OUTPUT_MODE) : 0;
}

int output_file_open(int directory, const char *name, int flags, struct stat *status)
{
    int file =
        sys.openat(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, OUTPUT_MODE);
    if (file < 0)
        return -1;
    int number = 0;
    if (sys.fstat(file, status))
        number = errno;
    else if (!S_ISREG(status->st_mode) || status->st_nlink != 1)
        number = EEXIST;
    else if ((flags & O_ACCMODE) != O_RDONLY && make_private(directory, file, status))
        number = errno;
    if (!number)
        return file;
    sys.close(file);
    errno = number;
    return -1;
}
