/* watcher/probe.c - one look at a file that still lies in the drop directory
 *
 * The lease is held while reading, so that content and status match, and released before returning,
 * so that the writer can continue between looks.
 */
#include "watcher/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"
#include "watcher/drop.h"

/* Judge the content; CONTENT_UNKNOWN unless it has exactly `size` bytes. */
static enum content look_inside(int file, size_t size, struct buffer *bytes)
{
    if (drop_read_bytes(file, size, bytes) || bytes->length != size)
        return CONTENT_UNKNOWN; /* it cannot be read, or changes meanwhile */
    return content_judge(buffer_text(bytes));
}

/* Milliseconds since the last change, by the time of day; 0 when the clocks disagree. */
static int64_t age_of(const struct stat *status)
{
    int64_t changed = (int64_t)status->st_ctim.tv_sec * 1000 + status->st_ctim.tv_nsec / 1000000;
    int64_t age = clock_now() - changed;
    return age > 0 ? age : 0;
}

/* Fill the look for a file that cannot be opened: a link, a socket, one we may not read. */
static int look_from_outside(int directory, const char *name, struct settle_look *look)
{
    /* EWOULDBLOCK: another program holds a write lease, so it has the file open for writing. */
    look->writers = errno == EWOULDBLOCK ? WRITERS_SOME : WRITERS_UNKNOWN;
    return sys.fstatat(directory, name, &look->status, AT_SYMLINK_NOFOLLOW);
}

static bool is_about_the_file(int number)
{
    return number == ELOOP || number == ENXIO || number == EACCES || number == EPERM ||
           number == EXDEV || number == EWOULDBLOCK || number == ENODEV || number == EOVERFLOW;
}

int probe_file(int directory, const char *name, bool local, struct buffer *bytes,
               struct settle_look *look)
{
    *look = (struct settle_look){.writers = WRITERS_UNKNOWN, .content = CONTENT_UNKNOWN};
    int file = sys.open_beneath(directory, name,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return is_about_the_file(errno) ? look_from_outside(directory, name, look) : -1;
    int result = sys.fstat(file, &look->status);
    const struct stat *status = &look->status;
    if (result == 0 && S_ISREG(status->st_mode) && status->st_size <= DROP_LARGEST) {
        look->writers = writers_hold(file);
        /* Take the status again under the lease: somebody may have written since. */
        if (look->writers == WRITERS_NONE)
            result = sys.fstat(file, &look->status);
        if (result == 0 && look->writers != WRITERS_SOME)
            look->content = look_inside(file, (size_t)status->st_size, bytes);
        look->age = local && result == 0 ? age_of(status) : 0;
    }
    int keep = errno;
    sys.close(file); /* also releases the lease */
    errno = keep;
    return result;
}
