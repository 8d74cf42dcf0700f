/* stages/lease.h - which daemon serves a spool
 *
 * One daemon serves at a time; others stand by.  Two things decide, because neither is enough:
 *
 *   the lock    on <spool>/.lock (an OFD lock).  The kernel frees it as soon as its holder and all
 *               its stages have died.  But a stopped process (SIGSTOP, a suspended machine) keeps
 *               it, and some NFS mounts have none.
 *   the lease   in <spool>/.lease: a line (stages/lease_line.h), rewritten by its holder every sixth
 *               of takeover_time.  When it has not changed for
 *               takeover_time, by the observer's clock, its holder is presumed dead.
 *
 * A daemon takes over by claiming the next epoch and publishing it (stages/epoch.h).  If the old
 * holder wakes up, it still writes to the old file, which no longer is .lease; and its stages check
 * the epoch before anything they do can be seen by others, find that it has changed, and stop: they
 * fence themselves.
 *
 * Getting the lock proves that the holder is dead only if the holder had it too, and was on this
 * host: on some mounts (NFSv3 with nolock) every host has locks of its own.  A holder on another
 * host that had the lock must also have missed its beats for half of takeover_time.  For a holder
 * without the lock only the lease counts.
 *
 * Of several daemons that may serve at the same moment, the one with the lock does; who stands by does not keep it.
 *
 * A claim that is newer than the lease is judged in the same way, by what its maker was: who is killed while
 * it takes over is followed as soon as one who was killed while it served.
 *
 * On NFS the lease is read afresh each time, and each beat is sent to the server at once.  A lease
 * that cannot be read does not count as missing.
 */
#ifndef STAGES_LEASE_H
#define STAGES_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "spool/spool.h"
#include "stages/lease_line.h"

enum { LEASE_WHO_SIZE = LEASE_TEXT_SIZE + 80 };

/* A line that another daemon wrote, as it was read last, and since when it has read so (of clock_elapsed). */
struct lease_sighting {
    char text[LEASE_TEXT_SIZE]; /* "": none was */
    int64_t since, epoch;
    bool moves; /* it has been seen to change under one epoch */
};

struct lease {
    const struct spool *spool;
    int lock, file; /* -1: not open */
    int64_t epoch;  /* ours; 0: none */
    bool locked;
    bool refused;          /* another process has the lock */
    int64_t takeover_time; /* milliseconds */
    int64_t renewed;       /* of clock_elapsed */
    struct lease_sighting holder, claimant;
};

void lease_open(struct lease *lease, const struct spool *spool, int64_t takeover_time);

/* Try to become the daemon that serves: 1 when this process is; 0 when another is or may be, of which `who`,
 * LEASE_WHO_SIZE bytes, says what is known, such as "host process 12 serves this spool"; -1 with a
 * sentence and errno on failure. */
int lease_take(struct lease *lease, char *who, struct error *error);

/* Renew the lease, if it is due.  -1 and a sentence when it is no longer ours, or when renewing has
 * failed for so long that another daemon may have it. */
int lease_renew(struct lease *lease, struct error *error);

/* Release the lease, so that another daemon need not wait for it to expire, and close it.  Safe on
 * a lease that was never acquired. */
void lease_release(struct lease *lease);

/* Is the spool's epoch this one?  The stages ask this before anything they do can be seen by
 * others. 1 yes, also for epoch 0, which a process without a supervisor has; 0 no; -1 with errno
 * when it cannot be determined now. */
int lease_check_epoch(const struct spool *spool, int64_t epoch);

/* Does a daemon serve the spool? 1 yes, 0 no, -1 when that cannot be determined; `who`, at least
 * LEASE_TEXT_SIZE bytes, is which: "host process 12". */
int lease_present(const struct spool *spool, char *who);

#endif
