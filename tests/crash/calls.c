/* tests/crash/calls.c - the table of system calls, with a fault at a chosen one */
#include "tests/crash/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "base/system.h"

static struct system_calls real;
static bool have_real;
static struct fault fault;
static int64_t count;
static bool hit;
static enum call hit_kind;
static int interrupted;

enum { MOST_INTERRUPTED = 40 };
static calls_look *stop, *each;
static bool changed;

static const char *const names[CALL_KINDS] = {
    "openat",    "openat(O_CREAT)", "openat2",
    "read",      "pread",           "write",
    "pwrite",    "fsync",           "syncfs",
    "close",     "fstat",           "fstatat",
    "renameat",  "linkat",          "unlinkat",
    "mkdirat",   "fchmod",          "fchown",
    "ftruncate", "utimensat",       "getdents",
    "lock",      "fstatvfs",        "lease",
    "fstatfs",   "the scheduler",   "the scheduler's reply"};

const char *call_name(enum call call)
{
    return names[call];
}

bool call_changes(enum call call)
{
    switch (call) {
    case CALL_CREATE:
    case CALL_WRITE:
    case CALL_PWRITE:
    case CALL_RENAME:
    case CALL_LINK:
    case CALL_UNLINK:
    case CALL_MKDIR:
    case CALL_FCHMOD:
    case CALL_FCHOWN:
    case CALL_FTRUNCATE:
    case CALL_SCHEDULER:
    case CALL_SCHEDULER_REPLY:
        return true;
    default:
        return false;
    }
}

void calls_stop(calls_look *look)
{
    stop = look;
    changed = true;
}

void calls_stop_each(calls_look *look)
{
    each = look;
}

void calls_changed(void)
{
    changed = true;
}

int64_t calls_count(void)
{
    return count;
}

bool calls_hit(void)
{
    return hit;
}

const char *calls_hit_name(void)
{
    return hit ? names[hit_kind] : "nothing";
}

void calls_lift(void)
{
    fault.kind = FAULT_NONE;
}

static bool can_be_repeated(enum call call)
{
    return call == CALL_CREATE || call == CALL_RENAME || call == CALL_LINK || call == CALL_UNLINK ||
           call == CALL_MKDIR;
}

bool calls_point(enum call call)
{
    count++;
    if (changed && stop)
        stop(count);
    if (each)
        each(count);
    changed = call_changes(call);
    if (fault.kind == FAULT_NONE || count < fault.at)
        return true;
    if (fault.kind == FAULT_KILL)
        _exit(KILLED_STATUS);
    if (count == fault.at) {
        hit = true;
        hit_kind = call;
    }
    if (!hit || (fault.span == SPAN_ONCE && count > fault.at) ||
        (fault.span == SPAN_NAME && call != hit_kind))
        return true;
    if (fault.number == FAULT_REPEATED)
        return !can_be_repeated(call);
    if (fault.number == EINTR && ++interrupted > MOST_INTERRUPTED)
        return true;
    errno = fault.number;
    return false;
}

/* What a call that fails answers, after having done its work if the fault is of that kind. */
#define FAIL(work)                                                                                 \
    do {                                                                                           \
        if (fault.done)                                                                            \
            (void)(work);                                                                          \
        if (fault.number == FAULT_REPEATED)                                                        \
            return work;                                                                           \
        errno = fault.number;                                                                      \
        return -1;                                                                                 \
    } while (0)

/* A call that makes nothing fails without having done anything. */
#define REFUSE() return -1

static int my_openat(int directory, const char *name, int flags, mode_t mode)
{
    if (!calls_point(flags & O_CREAT ? CALL_CREATE : CALL_OPEN)) {
        if (fault.number != FAULT_REPEATED)
            REFUSE();
        int first = real.openat(directory, name, flags, mode);
        if (first >= 0)
            real.close(first);
    }
    return real.openat(directory, name, flags, mode);
}

static int my_open_beneath(int directory, const char *name, int flags)
{
    if (!calls_point(CALL_OPEN_BENEATH))
        REFUSE();
    return real.open_beneath(directory, name, flags);
}

static ssize_t my_read(int file, void *bytes, size_t length)
{
    if (!calls_point(CALL_READ))
        REFUSE();
    return real.read(file, bytes, length);
}

static ssize_t my_pread(int file, void *bytes, size_t length, off_t offset)
{
    if (!calls_point(CALL_PREAD))
        REFUSE();
    return real.pread(file, bytes, length, offset);
}

/* A write that fails may have written the first part. */
static ssize_t my_write(int file, const void *bytes, size_t length)
{
    if (!calls_point(CALL_WRITE))
        FAIL(real.write(file, bytes, length / 2));
    return real.write(file, bytes, length);
}

static ssize_t my_pwrite(int file, const void *bytes, size_t length, off_t offset)
{
    if (!calls_point(CALL_PWRITE))
        FAIL(real.pwrite(file, bytes, length, offset));
    return real.pwrite(file, bytes, length, offset);
}

static int my_fsync(int file)
{
    (void)file;
    return calls_point(CALL_FSYNC) ? 0 : -1;
}

static int my_syncfs(int file)
{
    (void)file;
    return calls_point(CALL_SYNCFS) ? 0 : -1;
}

/* The descriptor is gone whatever close(2) answers. */
static int my_close(int file)
{
    bool good = calls_point(CALL_CLOSE);
    int number = errno;
    int result = real.close(file);
    errno = good ? errno : number;
    return good ? result : -1;
}

static int my_fstat(int file, struct stat *status)
{
    if (!calls_point(CALL_FSTAT))
        REFUSE();
    return real.fstat(file, status);
}

static int my_fstatat(int directory, const char *name, struct stat *status, int flags)
{
    if (!calls_point(CALL_FSTATAT))
        REFUSE();
    return real.fstatat(directory, name, status, flags);
}

static int my_renameat(int from, const char *old_name, int to, const char *new_name)
{
    if (!calls_point(CALL_RENAME))
        FAIL(real.renameat(from, old_name, to, new_name));
    return real.renameat(from, old_name, to, new_name);
}

static int my_linkat(int from, const char *old_name, int to, const char *new_name, int flags)
{
    if (!calls_point(CALL_LINK))
        FAIL(real.linkat(from, old_name, to, new_name, flags));
    return real.linkat(from, old_name, to, new_name, flags);
}

static int my_unlinkat(int directory, const char *name, int flags)
{
    if (!calls_point(CALL_UNLINK))
        FAIL(real.unlinkat(directory, name, flags));
    return real.unlinkat(directory, name, flags);
}

static int my_mkdirat(int directory, const char *name, mode_t mode)
{
    if (!calls_point(CALL_MKDIR))
        FAIL(real.mkdirat(directory, name, mode));
    return real.mkdirat(directory, name, mode);
}

static int my_fchmod(int file, mode_t mode)
{
    if (!calls_point(CALL_FCHMOD))
        REFUSE();
    return real.fchmod(file, mode);
}

static int my_fchown(int file, uid_t owner, gid_t group)
{
    if (!calls_point(CALL_FCHOWN))
        REFUSE();
    return real.fchown(file, owner, group);
}

static int my_ftruncate(int file, off_t length)
{
    if (!calls_point(CALL_FTRUNCATE))
        REFUSE();
    return real.ftruncate(file, length);
}

static int my_utimensat(int directory, const char *name, const struct timespec times[2], int flags)
{
    if (!calls_point(CALL_UTIMENS))
        REFUSE();
    return real.utimensat(directory, name, times, flags);
}

static ssize_t my_getdents(int directory, void *entries, size_t length)
{
    if (!calls_point(CALL_GETDENTS))
        REFUSE();
    return real.getdents(directory, entries, length);
}

static int my_lock(int file, short type)
{
    if (!calls_point(CALL_LOCK))
        REFUSE();
    return real.lock(file, type);
}

static int my_fstatvfs(int file, struct statvfs *status)
{
    if (!calls_point(CALL_FSTATVFS))
        REFUSE();
    return real.fstatvfs(file, status);
}

static int my_lease(int file, int type)
{
    if (!calls_point(CALL_LEASE))
        REFUSE();
    return real.lease(file, type);
}

static int my_fstatfs(int file, struct statfs *status)
{
    if (!calls_point(CALL_FSTATFS))
        REFUSE();
    return real.fstatfs(file, status);
}

void calls_install(const struct fault *wanted)
{
    if (!have_real)
        real = sys;
    have_real = true;
    fault = *wanted;
    count = 0;
    hit = false;
    sys = (struct system_calls){
        .openat = my_openat,
        .open_beneath = my_open_beneath,
        .read = my_read,
        .pread = my_pread,
        .write = my_write,
        .pwrite = my_pwrite,
        .fsync = my_fsync,
        .syncfs = my_syncfs,
        .close = my_close,
        .fstat = my_fstat,
        .fstatat = my_fstatat,
        .renameat = my_renameat,
        .linkat = my_linkat,
        .unlinkat = my_unlinkat,
        .mkdirat = my_mkdirat,
        .fchmod = my_fchmod,
        .fchown = my_fchown,
        .ftruncate = my_ftruncate,
        .utimensat = my_utimensat,
        .getdents = my_getdents,
        .lock = my_lock,
        .fstatvfs = my_fstatvfs,
        .lease = my_lease,
        .fstatfs = my_fstatfs,
        .fgetxattr = real.fgetxattr,
    };
}

void calls_restore(void)
{
    if (have_real)
        sys = real;
}
