/* stages/shared/change_wait.c - how long a failed job waits for a change */
#include "stages/shared/change_wait.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/duration.h"
#include "spool/why.h"

/* A clock that is corrected goes back by less than this; one that goes back by more was wrong before. */
static const int64_t clock_slack = 60000; /* milliseconds */

enum change_wait change_wait_judge(const struct settings *settings, const struct job_record *record,
                                   int64_t now)
{
    int64_t since = record->change_since ? record->change_since : record->failure.failed;
    return since > now + clock_slack               ? CHANGE_MISDATED
           : now >= since + settings->retry_change ? CHANGE_OVER
                                                   : CHANGE_WAITS;
}

static int replace_next(int job, struct job_record *record, const char *next, struct error *error)
{
    return why_replace_next(job, next, error) || record_replace(job, record, error) ? -1 : 0;
}

int change_wait_update(int job, struct job_record *record, const struct settings *settings,
                       int64_t now, struct error *error)
{
    char next[512], time[CLOCK_TEXT_SIZE];
    int length = (int)record->id.length;
    switch (change_wait_judge(settings, record, now)) {
    case CHANGE_WAITS:
        return 0;
    case CHANGE_OVER:
        record->failure.when = RETRY_NEVER;
        record->change_since = 0;
        snprintf(
            next, sizeof(next),
            "not retried by itself any more: its cause was not fixed within %s. Change the job file and "
            "submit it again, or retry it: dlspool retry %.*s",
            duration_format(settings->retry_change, time), length, record->id.data);
        break;
    case CHANGE_MISDATED:
        record->change_since = now;
        snprintf(
            next, sizeof(next),
            "change the job file and submit it again. If the templates or the capacity change so "
            "that it may succeed before %s, it is retried by itself. To retry it now: dlspool retry "
            "%.*s\nThe clock was wrong when it failed: this time is counted from %s.",
            clock_format(now + settings->retry_change, time), length, record->id.data,
            clock_format(now, (char[CLOCK_TEXT_SIZE]){0}));
        break;
    }
    return replace_next(job, record, next, error);
}
