/* spool/use_sums.h - DIR/history/shares: what users have used, decayed, and how much of the accounts that covers
 *
 * It spares reading the accounts from their beginning, and nothing else: what is missing, cut short or made under other
 * settings is made again from them.  So it is not made durable.  The format is in docs/spool.md.
 */
#ifndef SPOOL_USE_SUMS_H
#define SPOOL_USE_SUMS_H

#include "spool/fair_share.h"
#include "spool/usage_tail.h"

struct use_sum {
    uid_t uid;
    gid_t gid;
    double used; /* milliseconds of a GPU, as of the time of the sums */
};

/* How long attempts took on average, of what they used: times / used. */
struct use_lengths {
    double used, times; /* milliseconds of a GPU; these, times milliseconds that the attempt took */
};

struct use_sums {
    int64_t time;
    struct use_lengths lengths; /* 0: not known */
    const struct usage_place *places;
    size_t place_count;
    struct use_sum *users;
    size_t user_count;
};

/* -1 and a sentence on failure. */
int use_sums_write(const struct spool *spool, const struct fair_share *share,
                   const struct use_sums *sums, struct error *error);

/* False when there are none that were made under these settings. */
bool use_sums_read(const struct spool *spool, const struct fair_share *share, struct arena *arena,
                   struct use_sums *sums);

#endif
