/* spool/subscription.h - messages/<id>: of what the owner of a job is to be told, and what they were told
 *
 *   2026-11-21T03:09:24.123Z wants events=begin,end mail=ann@example.org
 *   2026-11-21T03:10:02.001Z told event=begin attempt=1 turn=0
 *
 * A file for each job whose owner wants messages, for as long as one may still be due; other jobs have none.  The lines
 * are as in a job's log.  Intake writes the first before it publishes the job, the notify stage appends
 * the others, each of which is durable before it goes on: so after a crash only what was being sent then may be sent
 * twice.
 *
 * The directory messages/ belongs to who writes there, and is there once the settings say how owners are told.
 */
#ifndef SPOOL_SUBSCRIPTION_H
#define SPOOL_SUBSCRIPTION_H

#include "base/arena.h"
#include "job/messages.h"
#include "spool/spool.h"

/* What happened of which its owner is told once: the event, the attempt, and how often the job had come back from
 * failed/
 * or held/ by then. */
struct message_key {
    enum message_event event;
    int attempt, turn;
};

struct subscription {
    unsigned int events; /* a set (job/messages.h) */
    struct text mail;    /* valid addresses, with ", " between them */
    struct message_key *told;
    size_t told_count, told_capacity;
};

/* Make messages/ unless it is there; root gives it to `user` (-1: to nobody).  -1 and a sentence. */
int subscription_make_directory(const struct spool *spool, uid_t user, gid_t group,
                                struct error *error);
/* Open it.  -1 with errno. */
int subscription_open_directory(const struct spool *spool);

/* Begin the file of a job, in place of one that a crash has left.  It is durable after spool_sync().  `group` may read
 * it.  -1 and a sentence. */
int subscription_begin(const struct spool *spool, const char *id,
                       const struct subscription *subscription, gid_t group, struct error *error);

/* Read the file of a job in the open `directory`.  1: it asks for nothing, as it is not whole or not ours; -1 and a
 * sentence when it cannot be read now. */
int subscription_read(int directory, const char *id, struct arena *arena,
                      struct subscription *subscription, struct error *error);

bool subscription_was_told(const struct subscription *subscription, const struct message_key *key);

/* Note durably that the owner was told, or with `dropped`, a reason, that they will not be. */
int subscription_note(int directory, const char *id, const struct message_key *key,
                      const char *dropped, int64_t now, struct error *error);

/* The job needs no more messages.  A missing file is fine. */
int subscription_end(int directory, const char *id, struct error *error);

#endif
