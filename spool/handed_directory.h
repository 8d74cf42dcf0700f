/* spool/handed_directory.h - directories of the spool that root makes and hands to who reads job files
 *
 * Everybody may read them (mode 0755).
 */
#ifndef SPOOL_HANDED_DIRECTORY_H
#define SPOOL_HANDED_DIRECTORY_H

#include <sys/types.h>

#include "spool/spool.h"

/* Make the directory `name` unless it is there; root gives it to `user` (-1: to nobody).  -1 and a sentence. */
int handed_directory_make(const struct spool *spool, const char *name, uid_t user, gid_t group,
                          struct error *error);
/* Open it.  -1 with errno. */
int handed_directory_open(const struct spool *spool, const char *name);

#endif
