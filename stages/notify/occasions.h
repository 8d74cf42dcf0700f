/* stages/notify/occasions.h - of what the owner of a job is to be told, from the job's log
 *
 * The log is the truth: what has happened is read from it each time, whole, and what was told before is left
 * out by its key (spool/subscription.h).  So nothing has to be remembered of where the reader was.  A failure counts
 * once the job is where its log says, or has gone on from there: a `failed` that a crash caught, after which the job
 * was
 * submitted all the same, did not happen.
 *
 * A job that is stopped at its checkpoint to go on at another size is tried again, and begins, without a message.
 * A pure function of what it is given.
 */
#ifndef STAGES_NOTIFY_OCCASIONS_H
#define STAGES_NOTIFY_OCCASIONS_H

#include "spool/record.h"
#include "spool/subscription.h"

struct occasion {
    struct message_key key;
    int64_t time;       /* when it happened */
    bool succeeded;     /* of MESSAGE_END */
    bool current;       /* nothing has moved the job since: its `why` is of this */
    struct text reason; /* one word: of the failure, or of `held` its cause; or empty */
    struct text why;    /* a sentence, of the failure; or empty */
    int exit_code;      /* of the failure; -1: none */
    struct text ended;  /* the pairs of the last event `ended` of that attempt; or empty */
};

struct occasions_input {
    unsigned int events; /* that are asked for: a set */
    struct text log;
    const struct job_record *record;
    enum state state;      /* the directory where the job is */
    int64_t now;           /* time of day */
    int64_t at_risk_since; /* by the plan, its deadline has been at risk since then; 0: it is not */
};

struct occasions {
    struct occasion *items; /* in the order in which they happened; in the arena */
    size_t count, capacity;
    int64_t next;  /* time of day at which one may come, though nothing is written; 0: none */
    bool finished; /* the job is in done/: no more will come */
};

/* For how long a deadline must be at risk before that is told, milliseconds: plans of a moment are not. */
extern const int64_t occasions_risk_patience;

void occasions_find(struct arena *arena, const struct occasions_input *input,
                    struct occasions *occasions);

#endif
