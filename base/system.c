/* base/system.c - every system call that touches the spool, in one table */
#include "base/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int real_openat(int directory, const char *name, int flags, mode_t mode)
{
    return openat(directory, name, flags, mode);
}

static int real_open_beneath(int directory, const char *name, int flags)
{
    /* Confined stages have no openat2(), as others' kernels have none: asking once is enough. */
    static bool lacking;
    struct open_how how = {.flags = (uint64_t)(unsigned int)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    int file = lacking ? -1 : (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
    if (lacking || (file < 0 && errno == ENOSYS)) {
        lacking = true;
        if (strchr(name, '/') || strcmp(name, "..") == 0) {
            errno = EXDEV;
            return -1;
        }
        return openat(directory, name, flags | O_NOFOLLOW);
    }
    return file;
}

static int real_utimensat(int directory, const char *name, const struct timespec times[2],
                          int flags)
{
    return name ? utimensat(directory, name, times, flags) : futimens(directory, times);
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
    .pwrite = pwrite,
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
    .utimensat = real_utimensat,
    .getdents = real_getdents,
    .lock = real_lock,
    .fstatvfs = fstatvfs,
    .lease = real_lease,
    .fstatfs = fstatfs,
    .fgetxattr = fgetxattr,
};
