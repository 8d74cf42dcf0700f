/* client/report_sums.h - sums of the accounts by day, user, group, queue, size, or deadline
 *
 * Rows grow with the number of days, users and so on, not with that of attempts; only deadlines keep some
 * bytes for each job that has one.
 */
#ifndef CLIENT_REPORT_SUMS_H
#define CLIENT_REPORT_SUMS_H

#include "base/names.h"
#include "client/usage_filter.h"

enum report_kind {
    REPORT_UTILIZATION, /* by day (UTC): what was held on that day, whenever the attempt ended */
    REPORT_USERS,
    REPORT_GROUPS,
    REPORT_QUEUES,
    REPORT_SIZES, /* by GPUs of an attempt */
    REPORT_DEADLINES,
    REPORT_KINDS
};

/* The words of the command line, in the order of the kinds; NULL ends them. */
extern const char *const report_sums_words[REPORT_KINDS + 1];

/* Milliseconds; of attempts that ended in the period, but for REPORT_UTILIZATION. */
struct report_row {
    int64_t attempts, succeeded;
    double waited;             /* from eligible to its start, or to its end without one */
    double cpu_held, gpu_held; /* of a CPU, and of a GPU */
    double cpu_used;
    double cpu_held_of_used; /* what those held of which `cpu_used` is known */
    int64_t unknown;         /* attempts of which it is not known what they held */
    int64_t jobs, met,
        missed; /* of jobs with a deadline that counts; others may still meet theirs */
};

struct report_sums;

struct report_sums *report_sums_new(enum report_kind kind, const struct usage_filter *filter);
void report_sums_free(struct report_sums *sums);

void report_sums_add(struct report_sums *sums, const struct usage *usage);

/* The rows in the order in which they are shown; names_text() is what each is of.  To be freed with free(). */
struct report_row **report_sums_rows(struct report_sums *sums, size_t *count);

#endif
