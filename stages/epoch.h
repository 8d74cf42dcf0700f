/* stages/epoch.h - the numbers under which daemons serve a spool, one after the other
 *
 * A daemon serves under an epoch, which .lease names and no other daemon ever has.  It gets one in
 * three steps, and may be killed or stopped at any call of them:
 *
 *   claim     its line is written to .lease-<number of its own>, and that is linked to .epoch-<N>.  Only one
 *             daemon can make that name, and from the first moment the file says who did.
 *   look      when there is a higher claim by now, or the lease is not the one that was judged, somebody
 *             was quicker: the claim is withdrawn.  `released` is written into it, and its name stays while
 *             it is the highest: the highest number never falls, so that none is claimed twice.
 *   publish   all of lower claims is removed, then .lease-<number> is renamed to .lease.
 *
 * A claimant that was stopped, taken for dead and overtaken finds nothing to rename when it goes on, since
 * who overtook it removed its claim first: the epoch in .lease never falls.  A claimant that died has
 * left a claim that is judged as a lease is, by whoever comes next, who claims the number after it.
 *
 * .epoch-<N> stays, as a second name of .lease, so that the numbers go on from there when somebody
 * removes .lease.  On a file system without hard links the claim is renamed twice instead, and does not.
 */
#ifndef STAGES_EPOCH_H
#define STAGES_EPOCH_H

#include <stdint.h>

#include "base/error.h"
#include "spool/spool.h"

enum { EPOCH_NAME_SIZE = 40 };

extern const char epoch_lease_name[]; /* .lease */

void epoch_name(int64_t epoch, char name[static EPOCH_NAME_SIZE]); /* .epoch-<N> */

/* The highest N of all .epoch-<N>; 0: there is none.  -1 with a sentence. */
int epoch_last(const struct spool *spool, int64_t *last, struct error *error);

struct epoch_claim {
    int64_t epoch;
    int file;                  /* open for writing; -1: there is no claim */
    char own[EPOCH_NAME_SIZE]; /* the name that is published */
};

/* Claim `epoch` with a file that holds `line`: 1 when it is ours; 0 when it is another's; -1 with a
 * sentence and errno.  Unless 1, nothing is left. */
int epoch_claim(const struct spool *spool, int64_t epoch, const char *line,
                struct epoch_claim *claim, struct error *error);

/* Put a claim in force: 1 when .lease is its file; 0 when somebody was quicker; -1 with a sentence and
 * errno. */
int epoch_publish(const struct spool *spool, const struct epoch_claim *claim, struct error *error);

/* Withdraw a claim that is not in force; its file says `released` already.  The file stays open, and the name
 * stays while it is the highest. */
void epoch_withdraw(const struct spool *spool, const struct epoch_claim *claim);

#endif
