/* base/system.c - every system call that touches the spool, in one table */
#include "base/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int real_openat(int directory, const char *name, int flags, mode_t mode)
{
    return openat(directory, name, flags, mode);
}

static int real_open_beneath(int directory, const char *name, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned int)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    int file = (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
    if (file < 0 && errno == ENOSYS) {
        if (strchr(name, '/') || strcmp(name, "..") == 0) {
            errno = EXDEV;
            return -1;
        }
        return openat(directory, name, flags | O_NOFOLLOW);
    }
    return file;
}

static ssize_t real_getdents(int directory, void *entries, size_t length)
{
    return getdents64(directory, entries, length);
}

static int real_lock(int file, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &lock);
}

static int real_lease(int file, int type)
{
    if (type != F_UNLCK && fcntl(file, F_SETSIG, SIGURG))
        return -1;
    return fcntl(file, F_SETLEASE, type);
}

struct system_calls sys = {
    .openat = real_openat,
    .open_beneath = real_open_beneath,
    .read = read,
    .pread = pread,
    .write = write,
    .fsync = fsync,
    .syncfs = syncfs,
    .close = close,
    .fstat = fstat,
    .fstatat = fstatat,
    .renameat = renameat,
    .linkat = linkat,
    .unlinkat = unlinkat,
    .mkdirat = mkdirat,
    .fchmod = fchmod,
    .fchown = fchown,
    .ftruncate = ftruncate,
    .utimensat = utimensat,
    .getdents = real_getdents,
    .lock = real_lock,
    .fstatvfs = fstatvfs,
    .lease = real_lease,
    .fstatfs = fstatfs,
};

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

int file_read_all(int file, size_t limit, struct buffer *out, const char *name, struct error *error)
{
    size_t start = out->length;
    for (;;) {
        size_t have = out->length - start;
        size_t want = have == 0 ? 4096 : 65536;
        if (want > limit + 1 - have)
            want = limit + 1 - have;
        ssize_t count = sys.read(file, buffer_reserve(out, want), want);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_errno(error, "%s could not be read", name);
        out->length += (size_t)count;
        out->data[out->length] = '\0';
        if (count == 0)
            return 0;
        if (out->length - start > limit)
            return error_set(error, "%s is larger than %zu bytes", name, limit);
    }
}

void directory_refresh(int directory)
{
    int keep = errno;
    int fresh = sys.openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fresh >= 0)
        sys.close(fresh);
    errno = keep;
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

static int read_once(int directory, const char *name, size_t limit, struct buffer *out,
                     struct error *error)
{
    int file =
        sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
    if (file < 0)
        return error_errno(error, "%s could not be opened", name);
    struct stat status;
    int result = -1;
    errno = 0;
    if (sys.fstat(file, &status))
        error_errno(error, "%s could not be looked at", name);
    else if (!S_ISREG(status.st_mode))
        error_set(error, "%s is not a regular file", name);
    else
        result = file_read_all(file, limit, out, name, error);
    if (result && errno == 0)
        errno = EBADMSG;
    int keep = errno;
    sys.close(file);
    errno = keep;
    return result;
}

int file_read_at(int directory, const char *name, size_t limit, struct buffer *out,
                 struct error *error)
{
    enum { STALE_RETRIES = 3 };
    size_t start = out->length;
    int result = read_once(directory, name, limit, out, error);
    for (int i = 0; result && errno == ESTALE && i < STALE_RETRIES; i++) {
        directory_refresh(directory);
        out->length = start;
        result = read_once(directory, name, limit, out, error);
    }
    return result;
}

bool file_is_damaged(int number)
{
    return number == EBADMSG || number == ENOENT || number == ELOOP || number == ENXIO ||
           number == ENOTDIR || number == EISDIR;
}

int directory_walk(int directory, directory_visit *visit, void *context)
{
    int fresh = sys.openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fresh < 0)
        return -1;
    union {
        struct dirent64 alignment;
        char bytes[65536];
    } entries;
    int result = 0;
    while (result == 0) {
        ssize_t count = sys.getdents(fresh, entries.bytes, sizeof(entries.bytes));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            result = count < 0 ? -1 : 0;
            break;
        }
        for (ssize_t at = 0; at < count && result == 0;) {
            const struct dirent64 *entry =
                (const struct dirent64 *)(const void *)(entries.bytes + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                result = visit(context, entry->d_name, entry->d_type);
        }
    }
    int keep = errno;
    sys.close(fresh);
    errno = keep;
    return result;
}
