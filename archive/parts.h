/* archive/parts.h - the files of history/archive/
 *
 * The jobs that ended on a day (UTC) are in the archives of that day: DAY.tar.zst has what everybody may
 * read of them, DAY.group-GID.tar.zst what that group may read beside the daemon's user, and
 * DAY.private.tar.zst what only that user may.  DAY.index tells where in them each job is.  What is
 * archived of a day later, such as what had failed earlier and succeeded jobs, or what is more than is archived at
 * once, is in a further part: DAY.2.tar.zst, and so on.
 *
 * A part is there when its index is: that is put into place last.  Archives without one are what a
 * crash has left, and nobody reads them.
 */
#ifndef ARCHIVE_PARTS_H
#define ARCHIVE_PARTS_H

#include "spool/jobs.h"
#include "spool/spool.h"

struct part {
    char day[11]; /* YYYY-MM-DD */
    int number;   /* from 1 */
};

enum { PART_NAME_SIZE = 64 };

/* The name of a part's file: with the kind "" that of its first archive, with "group-1000" or "private" that of
 * another one, with "index" of the index.  Returns `buffer`. */
const char *part_name(const struct part *part, struct text kind,
                      char buffer[static PART_NAME_SIZE]);

/* Which part's file is this: true, and the part and the kind. */
bool part_parse(const char *name, struct part *part, struct text *kind);

/* Open history/archive/.  `make`: make it if it is not there.  -1 with errno. */
int parts_open(const struct spool *spool, bool make);

/* All parts with an index, newest day first, and the last part of a day first; the caller frees them with
 * free().  -1 with errno. */
int parts_list(int archive, struct part **parts, size_t *count);

/* Read a part's index.  -1 and a sentence. */
int parts_read_index(int archive, const struct part *part, struct buffer *lines,
                     struct error *error);

/* Bytes of all files there, as the file system counts them; -1 with errno. */
int64_t parts_measure(int archive);

#endif
