/* watcher/drop.h - claim and read a dropped file
 *
 * A file in incoming/ can be swapped, linked and written to by whoever dropped it.  So it is
 * claimed first: renamed into a private directory of the daemon (mode 0700, same file system),
 * where nobody else can reach the name.  (The owner of a sticky directory may move others' files
 * out of it.)  Then it is read once and copied.  The file itself is never kept, because the user
 * may still hold the inode open for writing.
 *
 * The claim is opened by one openat2 (RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS | NO_XDEV,
 * O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), and everything else is checked on the
 * descriptor: a regular file, one link, 1 byte to 1 MiB, a printable name, not writable by
 * everybody; who else may write to it is reported (base/writable.h).  A pipe never blocks, a
 * link is never followed, and no byte of a file that is too large is read.
 *
 * The bytes are a snapshot.  Where leases work, a read lease is held while reading, so nobody can
 * change the file (watcher/writers.h); elsewhere size, mtime and the length read must agree before
 * and after.
 *
 * A refusal has a sentence for the file's owner, with the name that the owner gave it; the file is
 * not removed here.  System calls per file taken: rename, openat2, fstat, fstatfs, two or three
 * fcntl, pread, fstat, close.
 *
 * Known weakness: somebody can drop a hard link to another user's file; once that user removes the
 * original name, the file has one link and counts as dropped by that user; fs.protected_hardlinks
 * (the default) prevents it.
 */
#ifndef WATCHER_DROP_H
#define WATCHER_DROP_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "base/writable.h"

enum { DROP_LARGEST = 1024 * 1024 }; /* bytes of the largest job file */

enum drop_result {
    DROP_TAKEN,    /* done as asked */
    DROP_CHANGING, /* somebody is still writing to it: try again later; the sentence
                         * says what was seen, and also fits a refusal after the last attempt */
    DROP_REFUSED,  /* it cannot become a job; the sentence says why and what to do */
    DROP_GONE,     /* it no longer exists */
    DROP_ERROR, /* a failure on our side (disk, descriptors, network), which the sentence names */
};

struct drop {  /* who dropped what; filled as far as it is known */
    uid_t uid; /* (uid_t)-1: not known */
    gid_t gid;
    mode_t mode;
    dev_t device;
    ino_t inode;
    int64_t size; /* bytes */
    struct timespec mtime;
    struct writable writable; /* of the file taken */
};

/* Move incoming/<name> to <claims>/<id>, which must not exist.  A rename that happened although its
 * answer was lost counts as done.  DROP_REFUSED when the file can never be moved: a mount point, or
 * another user's directory when the daemon is not root. */
enum drop_result drop_claim(int incoming, const char *name, int claims, const char *id,
                            struct error *error);

/* Read the file `name` in `directory` (a claim) into `bytes`, replacing their content.  `shown` is
 * the name the user gave it, for sentences. */
enum drop_result drop_read(int directory, const char *name, struct text shown, struct buffer *bytes,
                           struct drop *drop, struct error *error);

/* Read up to `size` bytes and one more into `bytes`, replacing their content, to notice that the file grew.  -1
 * with errno set. */
int drop_read_bytes(int file, size_t size, struct buffer *bytes);

/* Is it still the file that was read, unchanged?  DROP_TAKEN, DROP_CHANGING (read it again),
 * DROP_GONE or DROP_ERROR.  Ask when the copy is durable, before removing the claim. */
enum drop_result drop_unchanged(int directory, const char *name, const struct drop *drop,
                                struct error *error);

#endif
