/* base/directory.h - the names in a directory, by the table of base/system.h */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Drop the cached entries of a directory.  An NFS client may believe for up to a minute that a
 * name is missing, or unchanged; only opening the directory makes it ask the server. */
void directory_refresh(int directory);

/* Walk a directory afresh: `directory` is opened again (openat of "."), so that nothing stale is
 * seen on NFS.  `visit` returns 0 to go on, or anything else to stop with that result.  "." and
 * ".." are left out.  -1 with errno set when the directory cannot be read.
 * `type` is a DT_ constant, perhaps DT_UNKNOWN. */
typedef int directory_visit(void *context, const char *name, unsigned char type);
int directory_walk(int directory, directory_visit *visit, void *context);

/* All that names in the directory mean, in the order of `compare`, as of qsort(): `read` fills in an item of that
 * size, or returns false for a name that is none.  *items is to be freed with free().  -1 with errno. */
typedef bool directory_read(const char *name, void *item);
int directory_list(int directory, directory_read *read, size_t size,
                   int (*compare)(const void *, const void *), void **items, size_t *count);

#endif
