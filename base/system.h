/* base/system.h - every system call that touches the spool, in one table
 *
 * Code that reads or changes anything below the spool's directory calls through `sys`, so that a
 * test can make any one of them fail, or stop the process before it, and so that the set of calls
 * is known.  The entries have the meaning, the errno values and the -1 of the calls of
 * that name in section 2 of the manual; all take descriptors, never a path from the root.
 */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/vfs.h>

struct system_calls {
    int (*openat)(int directory, const char *name, int flags, mode_t mode);
    /* openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
     * RESOLVE_NO_XDEV; where the kernel lacks it, openat with O_NOFOLLOW on a single name. */
    int (*open_beneath)(int directory, const char *name, int flags);
    ssize_t (*read)(int file, void *bytes, size_t length);
    ssize_t (*pread)(int file, void *bytes, size_t length, off_t offset);
    ssize_t (*write)(int file, const void *bytes, size_t length);
    ssize_t (*pwrite)(int file, const void *bytes, size_t length, off_t offset);
    int (*fsync)(int file);
    int (*syncfs)(int file);
    int (*close)(int file);
    int (*fstat)(int file, struct stat *status);
    int (*fstatat)(int directory, const char *name, struct stat *status, int flags);
    int (*renameat)(int from, const char *old_name, int to, const char *new_name);
    int (*linkat)(int from, const char *old_name, int to, const char *new_name, int flags);
    int (*unlinkat)(int directory, const char *name, int flags);
    int (*mkdirat)(int directory, const char *name, mode_t mode);
    int (*fchmod)(int file, mode_t mode);
    int (*fchown)(int file, uid_t owner, gid_t group);
    int (*ftruncate)(int file, off_t length);
    /* Without a name: of what `directory`, a descriptor, is itself.  A confined stage has no other form. */
    int (*utimensat)(int directory, const char *name, const struct timespec times[2], int flags);
    ssize_t (*getdents)(int directory, void *entries, size_t length);
    int (*lock)(int file, short type); /* fcntl F_OFD_SETLK over the whole file */
    int (*fstatvfs)(int file, struct statvfs *status);
    /* fcntl F_SETLEASE.  The signal that tells of a broken lease is SIGURG, which is ignored
     * unless somebody asks for it: SIGIO, the usual one, would end the process. */
    int (*lease)(int file, int type);
    int (*fstatfs)(int file, struct statfs *status);
    ssize_t (*fgetxattr)(int file, const char *name, void *value, size_t length);
};

extern struct system_calls sys;

#endif
