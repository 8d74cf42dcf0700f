/* base/above.h - who could put another directory in a directory's place
 *
 * Whoever may rename what is in a directory may exchange everything below it, whosever that is.  So what root is to
 * believe needs trusted directories above it, too: all of them belong to trusted users, and nobody else may write to
 * them, but for one with the sticky bit (/tmp), where entries that belong to trusted users cannot be renamed by others.
 * The way up is by "..", from the open directory: it is the one that it has now, without symbolic links.
 */
#ifndef BASE_ABOVE_H
#define BASE_ABOVE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Are root, and the users of this list, the only ones who could exchange the open directory?  Of groups root's is
 * trusted.  `what` names the directory in the sentence: "the spool".  0; -1 and a sentence with the command that mends
 * it, or that a directory could not be looked at.  A caller who is not root and may not read one of them is told of
 * those below it. */
int above_check(int directory, const char *what, const uid_t *trusted, size_t count,
                struct error *error);

#endif
