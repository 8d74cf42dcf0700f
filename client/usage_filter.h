/* client/usage_filter.h - selects attempts of the accounts by owner, end and state
 *
 * An attempt belongs to the time at which it ended, so that none is in two periods.
 */
#ifndef CLIENT_USAGE_FILTER_H
#define CLIENT_USAGE_FILTER_H

#include "spool/settings.h"
#include "spool/usage.h"

struct usage_filter {
    /* The options as given; NULL and false: not given. */
    bool all;          /* of all users */
    const char *users; /* names or numbers, with commas between them */
    const char *states;
    const char *start, *end;
    /* Set by usage_filter_prepare(): */
    bool own; /* only of the caller */
    int64_t from, until;
};

/* Parse the options, and find out whether the caller is an administrator, who sees all without asking.  -1 and a
 * sentence, which names the option. */
int usage_filter_prepare(struct usage_filter *filter, const struct spool *spool,
                         struct error *error);

bool usage_filter_takes(const struct usage_filter *filter, const struct usage *usage);
/* The same, whenever it ended. */
bool usage_filter_takes_at_any_time(const struct usage_filter *filter, const struct usage *usage);

/* From when on lines are to be read: an executor's clock may be ahead of ours. */
int64_t usage_filter_since(const struct usage_filter *filter);

/* The state in sacct's words: COMPLETED, FAILED, CANCELLED, TIMEOUT, ... */
const char *usage_filter_state(const struct usage *usage);

#endif
