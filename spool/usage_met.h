/* spool/usage_met.h - the inside of the accounts: which attempts a reader has met, so that each counts once
 *
 * Only usage_scan.c and usage_tail.c include this.
 */
#ifndef SPOOL_USAGE_MET_H
#define SPOOL_USAGE_MET_H

#include "spool/usage.h"

struct usage_met_key;

/* Attempts by the token of the id and the number of the attempt, exactly.  Zeroed, it is empty. */
struct usage_met {
    struct usage_met_key *slots;
    size_t capacity, count; /* a power of two; less than half of it is used */
};

/* Has it been met?  From now on it has. */
bool usage_met_add(struct usage_met *met, const struct usage *usage);
bool usage_met_has(const struct usage_met *met, const struct usage *usage);
void usage_met_free(struct usage_met *met);

#endif
