/* stages/lease.h - which daemon serves a spool
 *
 * One daemon serves at a time; others stand by.  Two things decide, because neither is enough:
 *
 *   the lock    on <spool>/.lock (an OFD lock).  It is free at the moment its holder has died with
 *               all its stages.  But a stopped process (SIGSTOP, a suspended machine) keeps it, and
 *               some NFS mounts have none.
 *   the lease   in <spool>/.lease: a line `EPOCH HOST PROCESS locked|unlocked BEAT`, rewritten by
 *               its holder every sixth of takeover_time.  When it has not changed for takeover_time,
 *               by the clock of the one who looks, its holder is taken for dead.
 *
 * Taking over means creating .epoch-<N+1>, which only one can, and putting a new .lease in place.
 * The old holder, if it wakes up, still writes to the old file, which has no name any more; and its
 * stages see that the epoch is no longer theirs before they do anything that shows: they fence
 * themselves.
 *
 * Who gets the lock has proof that the holder is dead only if the holder had it too, and was on this
 * host: on some mounts (NFSv3 with nolock) every host has locks of its own.  A holder on another host
 * that had the lock must also have missed beats for half of takeover_time; one without the lock is
 * waited out by the lease.
 *
 * On NFS the lease is read afresh each time, and each beat is sent to the server at once.  One that
 * cannot be read is not taken for none; and where there is none, epochs go on from the last
 * .epoch-<N> that there is.
 */
#ifndef STAGES_LEASE_H
#define STAGES_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "spool/spool.h"

enum { LEASE_TEXT_SIZE = 256 };

struct lease {
    const struct spool *spool;
    int lock, file; /* -1: not open */
    int64_t epoch;  /* ours; 0: none */
    bool locked;
    int64_t takeover_time;      /* milliseconds */
    int64_t renewed;            /* of clock_elapsed */
    char seen[LEASE_TEXT_SIZE]; /* another's lease as last looked at ... */
    int64_t seen_since;         /* ... and since when it has been so, of clock_elapsed */
};

void lease_open(struct lease *lease, const struct spool *spool, int64_t takeover_time);

/* Try to become the one who serves: 1 when we are, 0 when another is (`who`, at least
 * LEASE_TEXT_SIZE bytes, says which), -1, a sentence and errno on trouble. */
int lease_take(struct lease *lease, char *who, struct error *error);

/* Renew it, if it is time.  -1 and a sentence when it is no longer ours, or could not be renewed for
 * so long that it may not be. */
int lease_renew(struct lease *lease, struct error *error);

/* Let go, so that another need not wait.  Also closes; safe on one that was not taken. */
void lease_release(struct lease *lease);

/* Is the spool's epoch this one?  Asked by the stages before what they do can be seen.  1 yes, also
 * for epoch 0, which is that of a process without a supervisor; 0 no; -1 with errno when it cannot
 * be told now. */
int lease_look(const struct spool *spool, int64_t epoch);

/* Is anybody serving?  1 yes, 0 no, -1 it cannot be told; `who` as above. */
int lease_present(const struct spool *spool, char *who);

#endif
