/* spool/usage_tail.h - reads on in the accounts (spool/usage.h): what was written since the last time
 *
 * For what is counted from them all the time: a read costs as much as what is new.  Where it has come to can be
 * kept in a file, and another process goes on from there.  A line that is there twice, because of a crash, counts
 * once: of what is before a place that was given, the last megabyte is known, which is more than a crash repeats.
 */
#ifndef SPOOL_USAGE_TAIL_H
#define SPOOL_USAGE_TAIL_H

#include "spool/usage.h"

struct usage_tail;

enum { USAGE_MONTH_SIZE = 8 };

struct usage_place {
    char month[USAGE_MONTH_SIZE]; /* "2026-11": the file ... */
    int64_t bytes;                /* ... and how much of it has been read */
};

/* Lines from `since` on are read, from the files of that month and later ones.  `spool` must outlive the result. */
struct usage_tail *usage_tail_new(const struct spool *spool, int64_t since);
void usage_tail_free(struct usage_tail *tail); /* NULL is fine */

/* Go on from there in the file of a month.  -1 and a sentence when there is no such place. */
int usage_tail_seek(struct usage_tail *tail, const struct usage_place *place, struct error *error);

/* Call take() for each attempt that is new; what it returns other than 0 ends that and is returned.  -1 and a sentence
 * when a file cannot be read, or is shorter than it was: what was counted is void then. */
int usage_tail_read(struct usage_tail *tail, usage_take *take, void *context, struct error *error);

/* Where it has come to, in each file. */
const struct usage_place *usage_tail_places(const struct usage_tail *tail, size_t *count);

#endif
