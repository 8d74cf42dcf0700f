/* watcher/writers.h - does anybody have this file open for writing?
 *
 * Asked with a read lease (fcntl(2), F_SETLEASE), which the kernel grants only while nobody has the
 * file open for writing, nor mapped so that they could write.  That is the only proof that a
 * program which copies into place, without renaming, has finished: it holds the file open until it
 * finishes or dies.
 *
 * While the lease is held nobody can begin to write: an open(2) for writing blocks until it is
 * released, so hold it only over one short read.
 *
 * The answer is WRITERS_UNKNOWN where leases prove nothing: on file systems that other machines may
 * write to, on those that have no leases, and on files of other users when the process has neither
 * their user id nor CAP_LEASE.  WRITERS_NONE does not mean that nobody will write later: a script
 * may open and close a file for each line.
 */
#ifndef WATCHER_WRITERS_H
#define WATCHER_WRITERS_H

enum writers { WRITERS_UNKNOWN, WRITERS_NONE, WRITERS_SOME };

/* `file` is a regular file opened for reading only.  After WRITERS_NONE the lease is held until
 * writers_release() or close(2). */
enum writers writers_hold(int file);
void writers_release(int file);

#endif
