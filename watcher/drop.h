/* watcher/drop.h - take a dropped file into our hands
 *
 * A file in incoming/ can be swapped, linked and written to by whoever dropped it.  So it is
 * claimed first: renamed into a directory of the daemon's own (mode 0700, same file system),
 * where nobody else can reach the name.  The owner of a sticky directory may move others' files
 * out of it.  Then it is read, once, and copied: never adopted, because the dropper may still
 * hold the inode open for writing.
 *
 * The claim is opened by one openat2 (RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS | NO_XDEV,
 * O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), and everything after is asked of the
 * descriptor: a regular file, one link, 1 byte to 1 MiB, a name that can be printed, not open to
 * everybody for writing; who else may write to it is told (watcher/writable.h).  A pipe
 * makes nobody wait, a link is never followed, and of a file that is too large no byte is read.
 *
 * The bytes are those of one moment.  Where it can be had, a read lease is held over the reading,
 * so that nobody could have changed them (watcher/writers.h); where not, size, mtime and length
 * read must agree before and after.
 *
 * What is refused gets a sentence for its owner, with the name it was given, and is not removed
 * here.  Per file that is taken: rename, openat2, fstat, fstatfs, two or three fcntl, pread,
 * fstat, close.
 *
 * Known weakness: a hard link to somebody else's file, whose owner then removes their own name, has
 * one link and counts as dropped by that owner; fs.protected_hardlinks (the default) prevents it.
 */
#ifndef WATCHER_DROP_H
#define WATCHER_DROP_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "watcher/writable.h"

enum { DROP_LARGEST = 1024 * 1024 }; /* bytes of the largest job file */

enum drop_result {
    DROP_TAKEN,    /* done as asked */
    DROP_CHANGING, /* somebody still writes to it: try again a little later; the sentence
                         * says what was seen, fit for a refusal when patience has ended */
    DROP_REFUSED,  /* it cannot become a job; the sentence says why and what to do */
    DROP_GONE,     /* it is not there any more */
    DROP_ERROR,    /* our own trouble (disk, descriptors, network); the sentence names it */
};

struct drop {  /* who dropped what; filled as far as it was learned */
    uid_t uid; /* (uid_t)-1: not learned */
    gid_t gid;
    mode_t mode;
    dev_t device;
    ino_t inode;
    int64_t size; /* bytes */
    struct timespec mtime;
    struct writable writable; /* of what was taken */
};

/* Move incoming/<name> to <claims>/<id>, which must not be there.  A rename that happened although
 * its answer was lost counts as done.  DROP_REFUSED when this one can never be moved: a mount
 * point, or another user's directory when the daemon is not root. */
enum drop_result drop_claim(int incoming, const char *name, int claims, const char *id,
                            struct error *error);

/* Read the file `name` in `directory` (a claim) into `bytes`, replacing what is there.  `shown` is
 * the name the user gave it, for sentences. */
enum drop_result drop_read(int directory, const char *name, struct text shown, struct buffer *bytes,
                           struct drop *drop, struct error *error);

/* Is it still the file that was read, with nothing added?  DROP_TAKEN, DROP_CHANGING (read it
 * again), DROP_GONE or DROP_ERROR.  To be asked when the copy is durable, before removing it. */
enum drop_result drop_unchanged(int directory, const char *name, const struct drop *drop,
                                struct error *error);

#endif
