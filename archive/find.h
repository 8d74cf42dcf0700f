/* archive/find.h - finds the archived job that a word means
 *
 * A whole id means that job; of one that was archived, retried by hand and archived again, its last end.  A
 * name means the asker's newest job of that name or, if they have none, anybody's.  Anything else means the
 * only job whose id begins with it.
 */
#ifndef ARCHIVE_FIND_H
#define ARCHIVE_FIND_H

#include "archive/index.h"
#include "archive/parts.h"

struct found {
    struct part part;
    struct archived_job job; /* texts in the arena */
};

/* `archive` is what parts_open() returned.  0: it is found; 1 and a sentence: there is none, or there are
 * several; -1 and a sentence: an index cannot be read. */
int find_archived(int archive, struct text word, uid_t asker, struct arena *arena,
                  struct found *found, struct error *error);

#endif
