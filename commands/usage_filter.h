/* commands/usage_filter.h - selects attempts of the accounts by owner, end and state
 *
 * For acct and report.  An attempt belongs to the time at which it ended, so that none is in two periods.
 */
#ifndef COMMANDS_USAGE_FILTER_H
#define COMMANDS_USAGE_FILTER_H

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

/* The rows of an option table; `filter` is the struct's name. */
#define USAGE_FILTER_OPTIONS(filter)                                                               \
    {"starttime",     'S',    OPTION_TEXT,                                                         \
     &(filter).start, "TIME", "only what ended since then: 12h, 2d, 2026-05-01 (default: 30d)"},   \
        {"endtime", 'E', OPTION_TEXT, &(filter).end, "TIME", "only what ended before then"},       \
        {"user", 'u', OPTION_TEXT, &(filter).users, "USER", "only of that user"},                  \
    {                                                                                              \
        "all", 'a', OPTION_FLAG, &(filter).all, NULL, "of all users, not only mine"                \
    }

/* Parse the options, and find out whether the caller is an administrator, who sees all without asking.  False
 * after a complaint. */
bool usage_filter_prepare(struct usage_filter *filter, const struct spool *spool);

bool usage_filter_takes(const struct usage_filter *filter, const struct usage *usage);
/* The same, whenever it ended. */
bool usage_filter_takes_at_any_time(const struct usage_filter *filter, const struct usage *usage);

/* From when on lines are to be read: an executor's clock may be ahead of ours. */
int64_t usage_filter_since(const struct usage_filter *filter);

/* The state in sacct's words: COMPLETED, FAILED, CANCELLED, TIMEOUT, ... */
const char *usage_filter_state(const struct usage *usage);

#endif
