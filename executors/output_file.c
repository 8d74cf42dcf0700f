/* executors/output_file.c - the files that the output of tasks is copied to */
#include "executors/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"

enum { OUTPUT_MODE = 0640 };

/* Set the mode and the directory's group.  Without the right to change the group it stays as it is. */
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

const char *output_file_times_name(const char *name, char buffer[static OUTPUT_TIMES_NAME_SIZE])
{
    snprintf(buffer, OUTPUT_TIMES_NAME_SIZE, ".%s.times", name);
    return buffer;
}

void output_file_note_time(int directory, const char *name, int64_t size)
{
    char buffer[OUTPUT_TIMES_NAME_SIZE], line[64];
    struct stat status;
    int64_t now = clock_now();
    int file = output_file_open(directory, output_file_times_name(name, buffer),
                                O_WRONLY | O_APPEND | O_CREAT, &status);
    if (file < 0)
        return;
    int64_t written =
        (int64_t)status.st_mtim.tv_sec * 1000 + (int64_t)status.st_mtim.tv_nsec / 1000000;
    if (status.st_size == 0 || now < written || now - written >= OUTPUT_TIMES_APART) {
        int length = snprintf(line, sizeof(line), "%" PRId64 " %" PRId64 "\n", size, now);
        file_write_all(file, (struct text){line, (size_t)length}, name, NULL);
    }
    sys.close(file);
}
