/* spool/waiting.h - DIR/waiting: what the jobs of rendered/ wait for
 *
 * It is one line for the whole spool, which the submit stage replaces when it changes, so that a
 * hundred thousand waiting jobs cost no more than one; it is not made durable, since it is
 * determined again.  The jobs that were really examined have a `why` of their own as well: the
 * first in the queue, and any that the executor has declined.  What all others wait for follows
 * from both: waiting_reason().
 *
 *   waiting for=room since=2026-11-22T11:38:00.000Z first=big-0123456789abc reason="needs 2 CPUs,
 * ..."
 */
#ifndef SPOOL_WAITING_H
#define SPOOL_WAITING_H

#include "base/error.h"
#include "spool/spool.h"

enum waiting_for {
    WAITING_TURN,     /* only for their turn */
    WAITING_ROOM,     /* the first of them for capacity */
    WAITING_LIMIT,    /* the first of them for a limit of dlspool's own */
    WAITING_EXECUTOR, /* all of them for an executor that does not answer */
    WAITING_PAUSE     /* all of them, as the spool is paused */
};

struct waiting_file {
    enum waiting_for what;
    int64_t since;       /* time of day */
    char first[ID_SIZE]; /* the first in the queue; or "" */
    char reason[ERROR_TEXT_SIZE];
};

/* -1 and a sentence on failure. */
int waiting_write(const struct spool *spool, const struct waiting_file *waiting,
                  struct error *error);
/* WAITING_TURN when the file is missing or cannot be read. */
void waiting_read(const struct spool *spool, struct waiting_file *waiting);
void waiting_remove(const struct spool *spool);

/* "Waiting for resources: REASON." and the like: the first line of such a job's `why`. */
void waiting_sentence(enum waiting_for what, const char *reason, struct error *sentence);

/* One sentence, for people, of what the job `id` of rendered/ waits for.  `why` is the first line
 * of its own `why`, empty when there is none. */
void waiting_reason(const struct waiting_file *waiting, const char *id, struct text why,
                    struct error *sentence);

#endif
