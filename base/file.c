/* base/file.c - reading, writing and renaming files */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/system.h"

/* Bytes that are read at once: more than most files have that show whether they are whole. */
enum { USUAL_SIZE = 16383 };

int file_write_all(int file, struct text bytes, const char *name, struct error *error)
{
    size_t done = 0;
    while (done < bytes.length) {
        ssize_t count = sys.write(file, bytes.data + done, bytes.length - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_errno(error, "%s could not be written", name);
        if (count == 0)
            return error_set(error, "%s could not be written: the system took no bytes", name);
        done += (size_t)count;
    }
    return 0;
}

/* Read to the end.  `size` is the file's by its status, or 0 when that is not known: where a read that asked for more
 * has ended just there, that was the end. */
int file_read_sized(int file, off_t known_size, size_t limit, struct buffer *out, const char *name,
                    struct error *error)
{
    size_t size = (size_t)known_size;
    size_t start = out->length;
    for (;;) {
        size_t have = out->length - start;
        size_t want = have == 0 ? (size ? size + 1 : 4096) : 65536;
        if (want > limit + 1 - have)
            want = limit + 1 - have;
        ssize_t count = sys.read(file, buffer_reserve(out, want), want);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_errno(error, "%s could not be read", name);
        out->length += (size_t)count;
        out->data[out->length] = '\0';
        have += (size_t)count;
        if (have > limit)
            return error_set(error, "%s is larger than %zu bytes", name, limit);
        if (count == 0 || (size && have == size && (size_t)count < want))
            return 0;
    }
}

int file_read_all(int file, size_t limit, struct buffer *out, const char *name, struct error *error)
{
    return file_read_sized(file, 0, limit, out, name, error);
}

int file_rename(int from, const char *old_name, int to, const char *new_name)
{
    struct stat status;
    if (sys.renameat(from, old_name, to, new_name) == 0)
        return 0;
    int reason = errno;
    directory_refresh(from);
    directory_refresh(to);
    if (sys.fstatat(from, old_name, &status, AT_SYMLINK_NOFOLLOW) && errno == ENOENT &&
        sys.fstatat(to, new_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    errno = reason;
    return -1;
}

int file_named_descriptor(const char *path)
{
    static const char *const directories[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    for (size_t i = 0; i < ARRAY_COUNT(directories); i++) {
        size_t length = strlen(directories[i]);
        const char *number = path + length;
        if (strncmp(path, directories[i], length) != 0 || *number < '0' || *number > '9')
            continue;
        char *end;
        errno = 0;
        long descriptor = strtol(number, &end, 10);
        if (!*end && !errno && descriptor <= INT_MAX)
            return (int)descriptor;
    }
    return -1;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static int refuse_kind(const char *path, mode_t mode, struct error *error)
{
    bool readable = !S_ISDIR(mode) && !S_ISSOCK(mode);
    return error_set(
        error, "%s is %s, expected a regular file%s", path, kind_of(mode),
        readable ? "; to read what comes out of it, give it as standard input: - < FILE" : "");
}

int file_open_named(const char *path, struct error *error)
{
    struct stat status;
    int descriptor = file_named_descriptor(path);
    if (descriptor >= 0) {
        int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (copy >= 0 && !fstat(copy, &status) && S_ISDIR(status.st_mode)) {
            close(copy);
            return refuse_kind(path, status.st_mode, error);
        }
        return copy >= 0 ? copy : error_errno(error, "%s could not be opened", path);
    }
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0 && errno == ENXIO && !stat(path, &status) && !S_ISREG(status.st_mode))
        return refuse_kind(path, status.st_mode, error);
    if (file < 0)
        return error_errno(error, "%s could not be opened", path);
    if (fstat(file, &status)) {
        error_errno(error, "%s could not be looked at", path);
        close(file);
        return -1;
    }
    if (!S_ISREG(status.st_mode)) {
        close(file);
        return refuse_kind(path, status.st_mode, error);
    }
    return file;
}

struct soundness {
    file_is_whole *is_whole; /* NULL: nobody can tell */
    void *context;
};

/* Read what is there at once.  False, with `out` as it was, where that may not be the whole file. */
static bool read_sound(int file, size_t limit, const struct soundness *sound, struct buffer *out)
{
    size_t want = limit < USUAL_SIZE ? limit : USUAL_SIZE;
    if (!sound->is_whole)
        return false;
    char *bytes = buffer_reserve(out, want);
    ssize_t count = sys.pread(file, bytes, want, 0);
    if (count <= 0 || (size_t)count == want ||
        !sound->is_whole(sound->context, (struct text){bytes, (size_t)count}))
        return false;
    out->length += (size_t)count;
    out->data[out->length] = '\0';
    return true;
}

static int read_once(int directory, const char *name, size_t limit, const struct soundness *sound,
                     struct buffer *out, struct error *error)
{
    int file =
        sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
    if (file < 0)
        return error_errno(error, "%s could not be opened", name);
    struct stat status;
    int result = -1;
    bool is_sound = read_sound(file, limit, sound, out);
    errno = 0;
    if (is_sound)
        result = 0;
    else if (sys.fstat(file, &status))
        error_errno(error, "%s could not be looked at", name);
    else if (!S_ISREG(status.st_mode))
        error_set(error, "%s is not a regular file", name);
    else
        result = file_read_sized(file, status.st_size, limit, out, name, error);
    if (result && errno == 0)
        errno = EBADMSG;
    int keep = errno;
    sys.close(file);
    errno = keep;
    return result;
}

static int read_current(int directory, const char *name, size_t limit,
                        const struct soundness *sound, struct buffer *out, struct error *error)
{
    enum { STALE_RETRIES = 3 };
    size_t start = out->length;
    int result = read_once(directory, name, limit, sound, out, error);
    for (int i = 0; result && errno == ESTALE && i < STALE_RETRIES; i++) {
        directory_refresh(directory);
        out->length = start;
        result = read_once(directory, name, limit, sound, out, error);
    }
    return result;
}

int file_read_at(int directory, const char *name, size_t limit, struct buffer *out,
                 struct error *error)
{
    return read_current(directory, name, limit, &(struct soundness){.is_whole = NULL}, out, error);
}

int file_read_sound_at(int directory, const char *name, size_t limit, struct buffer *out,
                       file_is_whole *is_whole, void *context, struct error *error)
{
    return read_current(directory, name, limit, &(struct soundness){is_whole, context}, out, error);
}

bool file_is_damaged(int number)
{
    return number == EBADMSG || number == ENOENT || number == ELOOP || number == ENXIO ||
           number == ENOTDIR || number == EISDIR;
}
