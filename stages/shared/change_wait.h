/* stages/shared/change_wait.h - how long a failed job waits for a change
 *
 * A refused job is retried by itself (RETRY_CHANGE) when the templates or the capacity change so
 * that it may succeed; but only within `retry_change`, since nobody may remember the job after
 * that.  The time counts from the first refusal: a retry after a change that is refused again does
 * not restart it.
 */
#ifndef STAGES_SHARED_CHANGE_WAIT_H
#define STAGES_SHARED_CHANGE_WAIT_H

#include "spool/record.h"
#include "spool/settings.h"

enum change_wait {
    CHANGE_WAITS,
    CHANGE_OVER,    /* it has waited for `retry_change` */
    CHANGE_MISDATED /* it began while the clock was wrong, at a time in the future */
};

/* The state of a job of RETRY_CHANGE. */
enum change_wait change_wait_judge(const struct settings *settings, const struct job_record *record,
                                   int64_t now);

/* Give up a job that has waited long enough, or let the wait of a misdated one begin now: rewrites
 * its record and the last paragraph of its why, and syncs nothing.  -1 and a sentence on failure. */
int change_wait_update(int job, struct job_record *record, const struct settings *settings,
                       int64_t now, struct error *error);

#endif
