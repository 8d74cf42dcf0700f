/* spool/identity.h - distinguishes this spool from every other, even from one at the same path and
 * from a copy
 *
 * Two hosts may each have a spool at /var/spool/dlspool and submit jobs to one scheduler.  When
 * such a scheduler still has a job whose directory is gone, only the spool that submitted the job
 * may end it.  So jobs are submitted with the spool's identity: a random number that was drawn once
 * and is kept in DIR/.identity, with the inode numbers of the spool's directory and of that file.
 * A copy of the spool (`cp -a`, a restored backup) has other inode numbers, and gets an identity of
 * its own when it is first served; jobs that were submitted under the old one then belong to no
 * spool for certain, and are left alone.
 *
 * Known weakness: a clone of the whole disk or volume (a virtual machine, a snapshot) keeps the
 * inode numbers; served at the same path, it is taken for the original.
 */
#ifndef SPOOL_IDENTITY_H
#define SPOOL_IDENTITY_H

#include "spool/spool.h"

enum { IDENTITY_SIZE = 17 }; /* 16 hexadecimal digits and the final NUL */

/* Draw an identity, durably, unless the spool has one already.  Only the daemon that serves the
 * spool may call this.  -1 and a sentence on failure. */
int identity_make(struct spool *spool, struct error *error);

/* The spool's identity; "" when it has none, or the copy of another's. */
void identity_read(const struct spool *spool, char buffer[static IDENTITY_SIZE]);

#endif
