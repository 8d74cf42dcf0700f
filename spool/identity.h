/* spool/identity.h - what tells this spool from every other, also from one at the same path, and
 * from a copy
 *
 * Two hosts may have a spool each at /var/spool/dlspool and hand their jobs to one scheduler.  What
 * such a scheduler still has of jobs that are gone may be ended only by the spool whose it is, so
 * jobs are handed in with the identity: a number that was drawn once and stands in DIR/.identity,
 * with the inode numbers of the spool's directory and of the file itself.  A copy of the spool (`cp
 * -a`, a backup that was put back) has others there, and gets an identity of its own when it is
 * served first; what was handed in under the one before is then nobody's for certain, and is left
 * alone.
 *
 * Known weakness: a clone of the whole disk or volume (a virtual machine, a snapshot) keeps the
 * inode numbers; served at the same path it passes for the original.
 */
#ifndef SPOOL_IDENTITY_H
#define SPOOL_IDENTITY_H

#include "spool/spool.h"

enum { IDENTITY_SIZE = 17 }; /* 16 hexadecimal digits and the final NUL */

/* Draw one, durably, unless the spool has one already.  Only by who serves the spool.  -1 and a
 * sentence. */
int identity_make(struct spool *spool, struct error *error);

/* The spool's identity; "" when it has none, or a copied one. */
void identity_read(const struct spool *spool, char buffer[static IDENTITY_SIZE]);

#endif
