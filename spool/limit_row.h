/* spool/limit_row.h - `limits.rows` of dlspool.yaml: how much users, groups and queues may have at once
 *
 * A row is for the jobs of one user, of one group (their owners' primary one) or of one queue, or, where its
 * name is "*", for those of each by itself.  With `gpu_type` it is for the jobs that ask for GPUs of that type, and for
 * no others.  All rows that a job belongs to hold, so the strictest decides.
 */
#ifndef SPOOL_LIMIT_ROW_H
#define SPOOL_LIMIT_ROW_H

#include <stdint.h>
#include <sys/types.h>

#include "spool/members.h"

enum limit_subject { LIMIT_USER, LIMIT_GROUP, LIMIT_QUEUE };

/* What becomes of a job that is over it for now. */
enum limit_over {
    LIMIT_WAIT,   /* it waits in rendered/ until others have ended */
    LIMIT_REFUSE, /* it is refused when it comes; then what waits counts, too */
    LIMIT_APPROVE /* it waits in held/ until it is approved; what waits counts, too */
};

enum { LIMIT_NONE = -1 }; /* of any amount: as much as one likes */

struct limit_row {
    enum limit_subject subject;
    struct text name;     /* as it stands there; "*": each by itself */
    id_t id;              /* of that user or group */
    struct text gpu_type; /* empty: any, and none */
    /* At the executor together; and waiting, in rendered/ and held/. */
    int64_t running, waiting;   /* jobs */
    int64_t cpus, memory, gpus; /* thousandths, bytes, number */
    int64_t time_limit;         /* of one job, milliseconds */
    /* Within each period of that length, milliseconds: GPUs times how long they are held */
    int64_t gpu_time, gpu_period;
    /* Of a queue that shares its GPUs (stages/shared/cohort.h), `gpus` are its own, and these are how many others may
     * have of them, and how many it may have of others'; LIMIT_NONE: it does not. */
    int64_t lend_gpus, borrow_gpus;
    bool preempts;  /* of a queue: jobs of lower priority are stopped for those of higher */
    int64_t exempt; /* ... and none of it for others before it has run for so long, milliseconds */
    struct members members; /* of a queue: who may name it, beside administrators */
    enum limit_over over;
    unsigned int line; /* of dlspool.yaml */
};

/* Read a list of rows into an array in the section's arena.  -1 and a sentence. */
int limit_row_read_all(const struct section *section, const struct value *list,
                       struct limit_row **rows, size_t *count);

/* Is the row for each user, group or queue by itself? */
bool limit_row_is_for_each(const struct limit_row *row);

/* Is it for the jobs of that owner, in that queue, that ask for that type of GPU? */
bool limit_row_holds_for(const struct limit_row *row, uid_t uid, gid_t gid, struct text queue,
                         struct text gpu_type);

/* ... and then a name for the pair of the row, the index-th, and whom it is about then: the user, group or queue that
 * the job belongs to.  False: it is not for the job. */
enum { LIMIT_ROW_KEY_SIZE = 128 };
bool limit_row_key(const struct limit_row *row, size_t index, uid_t uid, gid_t gid,
                   struct text queue, struct text gpu_type, char key[static LIMIT_ROW_KEY_SIZE]);

/* May this user name the queue?  The row is for it. */
bool limit_row_is_open_to(const struct limit_row *row, uid_t uid, gid_t gid);

/* Does the queue share its GPUs with the others that do, of the same type? */
bool limit_row_shares(const struct limit_row *row);
/* How many GPUs its jobs may have at most; LIMIT_NONE. */
int64_t limit_row_most_gpus(const struct limit_row *row);
/* Append what tells the row from others, wherever it stands: "user * gpus=8". */
void limit_row_describe_limits(const struct limit_row *row, struct buffer *out);

/* "wait", "refuse" or "approve". */
const char *limit_row_over_name(enum limit_over over);

/* Whose a row is, of limits.rows and shares.weights. */
struct limit_whose {
    enum limit_subject *subject;
    struct text *name; /* empty, before it is known */
    id_t *id;
};
/* Read the field `user`, `group` or `queue` of a row, of which it may have one.  -1 and a sentence. */
int limit_row_read_whose(const struct section *section, enum limit_subject subject,
                         const struct value *value, const struct limit_whose *whose);

/* "user", "group" or "queue". */
const char *limit_row_subject_name(enum limit_subject subject);

/* Write for people which row it is: `limits.rows of dlspool.yaml, line 12, which an administrator can change`.
 * Returns `buffer`. */
enum { LIMIT_ROW_TEXT_SIZE = 112 };
const char *limit_row_describe(const struct limit_row *row,
                               char buffer[static LIMIT_ROW_TEXT_SIZE]);

#endif
