/* watcher/drop.c - claim and read a dropped file */
#include "watcher/drop.h"

#include <errno.h>
#include <fcntl.h>

#include "base/directory.h"
#include "base/system.h"
#include "base/utf8.h"
#include "watcher/writers.h"

enum { STALE_RETRIES = 3 }; /* NFSv3 answers ESTALE after a rename; opening again helps */

static enum drop_result refuse_drop(struct error *error, struct text shown, const char *reason)
{
    struct error_quote_buffer buffer;
    error_set(error, "\"%s\" %s", error_quote(&buffer, shown.data, shown.length), reason);
    return DROP_REFUSED;
}

static enum drop_result set_changing(struct error *error, struct text shown, const char *seen)
{
    refuse_drop(error, shown, seen);
    return DROP_CHANGING;
}

static enum drop_result set_trouble(struct error *error, struct text shown, const char *what)
{
    int number = errno;
    struct error_quote_buffer buffer;
    const char *quoted = error_quote(&buffer, shown.data, shown.length);
    errno = number;
    error_errno(error, "\"%s\" %s", quoted, what);
    return DROP_ERROR;
}

enum drop_result drop_claim(int incoming, const char *name, int claims, const char *id,
                            struct error *error)
{
    if (sys.renameat(incoming, name, claims, id) == 0)
        return DROP_TAKEN;
    int number = errno;
    struct stat status;
    directory_refresh(claims);
    if (sys.fstatat(claims, id, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return DROP_TAKEN;
    errno = number;
    struct text shown = text_of(name);
    switch (number) {
    case ENOENT:
        refuse_drop(error, shown, "is gone");
        return DROP_GONE;
    case EXDEV:
    case EBUSY:
        return refuse_drop(error, shown, "is on a file system of its own; drop an ordinary file");
    case EACCES:
    case EPERM:
        return refuse_drop(
            error, shown,
            "cannot be taken out of incoming/ by dlspool's user: it is protected, or a "
            "directory of somebody else; remove it and drop an ordinary file");
    default:
        return set_trouble(error, shown, "could not be claimed");
    }
}

static void describe_drop(struct drop *drop, const struct stat *status)
{
    *drop = (struct drop){.uid = status->st_uid,
                          .gid = status->st_gid,
                          .mode = status->st_mode,
                          .device = status->st_dev,
                          .inode = status->st_ino,
                          .size = status->st_size,
                          .mtime = status->st_mtim};
}

static bool same_file(const struct drop *drop, const struct stat *status)
{
    return drop->device == status->st_dev && drop->inode == status->st_ino &&
           drop->size == status->st_size && drop->mtime.tv_sec == status->st_mtim.tv_sec &&
           drop->mtime.tv_nsec == status->st_mtim.tv_nsec;
}

/* The refusal for a file that is not a regular one: what it is, and what to drop instead. */
static const char *kind_refusal(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "is a directory; drop a job file, not a directory; what was dropped is kept here, as dropped";
    case S_IFLNK:
        return "is a symbolic link, and links are not followed; drop the file itself (cp -L)";
    case S_IFIFO:
        return "is a named pipe (fifo); drop an ordinary file";
    case S_IFSOCK:
        return "is a socket; drop an ordinary file";
    case S_IFCHR:
    case S_IFBLK:
        return "is a device; drop an ordinary file";
    default:
        return "is not a regular file; drop an ordinary file";
    }
}

static bool name_is_printable(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        unsigned char byte = (unsigned char)name.data[i];
        bool c1 = byte == 0xc2 && i + 1 < name.length && (unsigned char)name.data[i + 1] < 0xa0;
        if (byte < 0x20 || byte == 0x7f || c1)
            return false;
    }
    return utf8_valid(name);
}

/* Refuse a file that can never be a job file, saying what it is and what to drop instead. */
static enum drop_result check_status(const struct stat *status, struct text shown,
                                     struct error *error)
{
    if (!S_ISREG(status->st_mode))
        return refuse_drop(error, shown, kind_refusal(status->st_mode));
    if (status->st_nlink == 0)
        return DROP_GONE;
    if (status->st_nlink > 1)
        return refuse_drop(error, shown,
                           "has another name (a hard link), through which it could change; drop a "
                           "copy (cp) or rename it into place (mv)");
    if (status->st_mode & S_IWOTH)
        return refuse_drop(error, shown, WRITABLE_BY_EVERYBODY);
    if (!name_is_printable(shown))
        return refuse_drop(
            error, shown,
            "has control characters in its name, or a name that is not UTF-8; give the file "
            "an ordinary name and drop it again");
    if (status->st_size == 0)
        return refuse_drop(error, shown, "is empty; write the job into it and drop it again");
    if (status->st_size > DROP_LARGEST) {
        struct error_quote_buffer buffer;
        error_set(error, "\"%s\" has %lld bytes; a job file may have at most %d (1 MiB)",
                  error_quote(&buffer, shown.data, shown.length), (long long)status->st_size,
                  DROP_LARGEST);
        return DROP_REFUSED;
    }
    return DROP_TAKEN;
}

int drop_read_bytes(int file, size_t size, struct buffer *bytes)
{
    buffer_clear(bytes);
    buffer_add_string(bytes, "");
    while (bytes->length <= size) {
        size_t want = size + 1 - bytes->length;
        ssize_t count = sys.pread(file, buffer_reserve(bytes, want), want, (off_t)bytes->length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        bytes->length += (size_t)count;
        bytes->data[bytes->length] = '\0';
        if (count == 0 || bytes->length == size)
            break;
    }
    return 0;
}

/* Is it a job's directory that somebody moved here from the spool? */
static bool is_job(int directory)
{
    struct stat status;
    return sys.fstatat(directory, "job.yaml", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode);
}

/* Check and read an open claim and fill `drop`.  The lease is held until the file is closed. */
static enum drop_result read_open_file(int file, struct text shown, struct buffer *bytes,
                                       struct drop *drop, struct error *error)
{
    struct stat before, after;
    if (sys.fstat(file, &before))
        return set_trouble(error, shown, "could not be looked at");
    describe_drop(drop, &before);
    if (S_ISDIR(before.st_mode) && is_job(file))
        return refuse_drop(
            error, shown,
            "is the directory of a job, not a job file; to run that job again, submit the "
            "job file in it (request.yaml, .json or .sh); a job in failed/ is run again by "
            "dlspool retry ID; the directory is kept here, as dropped");
    enum drop_result result = check_status(&before, shown, error);
    if (result != DROP_TAKEN)
        return result;
    if (writers_hold(file) == WRITERS_SOME)
        return set_changing(error, shown, "is still open for writing in another program");
    if (drop_read_bytes(file, (size_t)before.st_size, bytes))
        return set_trouble(error, shown, "could not be read");
    if (sys.fstat(file, &after))
        return set_trouble(error, shown, "could not be looked at");
    if (writable_look(file, &after, &drop->writable))
        return set_trouble(error, shown, "could not be asked who may write to it");
    if (!same_file(drop, &after) || bytes->length != (size_t)before.st_size)
        return set_changing(error, shown, "was written to while it was being read");
    return DROP_TAKEN;
}

/* Say why a claim could not be opened: what it is, or that it may not be read. */
static enum drop_result judge_closed(int directory, const char *name, struct text shown,
                                     struct drop *drop, struct error *error)
{
    int number = errno;
    struct stat status;
    if (sys.fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW)) {
        if (errno == ENOENT)
            return DROP_GONE;
        return set_trouble(error, shown, "could not be looked at");
    }
    describe_drop(drop, &status);
    if (!S_ISREG(status.st_mode))
        return check_status(&status, shown, error);
    errno = number;
    struct error_quote_buffer buffer;
    switch (number) {
    case EACCES:
    case EPERM:
        error_quote(&buffer, shown.data, shown.length);
        error_set(error,
                  "\"%s\" may not be read by dlspool's user (its mode is %04o); make it readable "
                  "and drop it again: chmod a+r \"%s\"",
                  buffer.text, (unsigned int)status.st_mode & 07777, buffer.text);
        return DROP_REFUSED;
    case EXDEV:
        return refuse_drop(error, shown, "is on a file system of its own; drop an ordinary file");
    case EWOULDBLOCK:
        return set_changing(error, shown, "is still open in another program");
    default:
        return set_trouble(error, shown, "could not be opened");
    }
}

enum drop_result drop_read(int directory, const char *name, struct text shown, struct buffer *bytes,
                           struct drop *drop, struct error *error)
{
    *drop = (struct drop){.uid = (uid_t)-1, .gid = (gid_t)-1};
    int file = -1;
    for (int i = 0; file < 0 && i < STALE_RETRIES; i++) {
        file = sys.open_beneath(directory, name,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (file < 0 && errno != ESTALE)
            break;
        if (file < 0)
            directory_refresh(directory);
    }
    if (file < 0)
        return judge_closed(directory, name, shown, drop, error);
    enum drop_result result = read_open_file(file, shown, bytes, drop, error);
    sys.close(file); /* also releases the lease */
    return result;
}

enum drop_result drop_unchanged(int directory, const char *name, const struct drop *drop,
                                struct error *error)
{
    struct stat status;
    struct text shown = text_of(name);
    if (sys.fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW)) {
        if (errno == ENOENT)
            return DROP_GONE;
        return set_trouble(error, shown, "could not be looked at again");
    }
    if (!same_file(drop, &status))
        return set_changing(error, shown, "was written to after it had been read");
    return DROP_TAKEN;
}
