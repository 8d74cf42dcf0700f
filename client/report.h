/* client/report.h - a report of the accounts: the sums of a period, and what the executor has, to hold them against */
#ifndef CLIENT_REPORT_H
#define CLIENT_REPORT_H

#include "base/value.h"
#include "client/report_sums.h"
#include "stages/shared/capacity_file.h"

struct report {
    enum report_kind kind;
    struct usage_filter filter; /* prepared */
    /* Set by report_make(): */
    int64_t now;
    struct capacity capacity; /* as it is now; zero: not known */
    struct report_sums *sums;
    struct report_row **rows; /* in the order in which they are shown */
    size_t count;
};

/* Parse the word of a kind.  -1 and a sentence. */
int report_read_kind(struct text word, enum report_kind *kind, struct error *error);

/* Read the accounts.  -1 and a sentence.  report_free() ends it in any case. */
int report_make(struct report *report, const struct spool *spool, struct error *error);
void report_free(struct report *report);

/* As `dlspool report --json` prints it, dlspool-json(5). */
struct value *report_tree(struct arena *arena, const struct report *report);

#endif
