/* spool/wants.h - what of a job its site gives only by approval: `wants` of job.yaml
 *
 * A text of entries with "; " between them: `privilege NAME`, `image NAME`, and `limit ROW` with what
 * limit_row_describe_limits() gives of a row.  Empty: nothing.
 */
#ifndef SPOOL_WANTS_H
#define SPOOL_WANTS_H

#include "base/arena.h"
#include "spool/limit_row.h"

/* Cut the next entry off `rest`.  False at the end. */
bool wants_next(struct text *rest, struct text *entry);
bool wants_have(struct text wants, struct text entry);
/* The wants with that entry, once; in the arena. */
struct text wants_add(struct arena *arena, struct text wants, struct text entry);

#define WANTS_PRIVILEGE "privilege "
#define WANTS_IMAGE "image "
#define WANTS_LIMIT "limit "

/* The entry of a row. */
struct text wants_of_row(struct arena *arena, const struct limit_row *row);
/* Append what is wanted in words for people: "privilege rdma; more than 8 GPUs for each user". */
void wants_describe(struct text wants, struct buffer *out);
/* Do they have the entry of this row? */
bool wants_have_row(struct text wants, const struct limit_row *row);

#endif
