/* stages/shared/change_wait.h - how long a failed job waits for a change
 *
 * What was refused comes back by itself (RETRY_CHANGE) when the templates or the capacity change so that
 * it may go well; but only for `retry_change`, as nobody may remember it after that.  The time counts
 * from the first refusal: being brought back by a change and refused again does not restart it.
 */
#ifndef STAGES_SHARED_CHANGE_WAIT_H
#define STAGES_SHARED_CHANGE_WAIT_H

#include "spool/record.h"
#include "spool/settings.h"

enum change_wait {
    CHANGE_WAITS,
    CHANGE_OVER,    /* it has waited for `retry_change` */
    CHANGE_MISDATED /* it began while the clock was wrong, at a time yet to come */
};

/* How a job of RETRY_CHANGE stands. */
enum change_wait change_wait_judge(const struct settings *settings, const struct job_record *record,
                                   int64_t now);

/* Give up a job that has waited long enough, and let the wait of a misdated one begin now: its record,
 * and the last paragraph of its why, are rewritten, and nothing is synced.  -1 and a sentence on
 * failure. */
int change_wait_update(int job, struct job_record *record, const struct settings *settings,
                       int64_t now, struct error *error);

#endif
