/* commands/follow_jobs.h - wait for jobs, as `wait` and `submit --wait` do */
#ifndef COMMANDS_FOLLOW_JOBS_H
#define COMMANDS_FOLLOW_JOBS_H

#include "spool/spool.h"

struct follow_options {
    int64_t timeout;  /* milliseconds; 0: none */
    bool quiet;       /* say nothing of ends */
    bool any;         /* until one of them has ended */
    bool exit_status; /* end as the program of the first job that failed did */
    bool json;        /* each end is the job's object, not a line for people */
};

/* Wait until each of the jobs, given by whole ids, has come to an end (view_has_ended()).  Says each end on
 * standard output; on standard error what a job waits for that has not started, once, and that no daemon
 * serves the spool.  The exit status: STATUS_DONE all done, STATUS_JOB_FAILED some failed (with `exit_status`
 * the exit code of the task that decided, where there is one), STATUS_NOT_FOUND one is not there any more; when
 * the time is over STATUS_TIMEOUT, or STATUS_UNSERVED where nobody serves. */
int follow_jobs(const struct spool *spool, const char *const *ids, size_t count,
                const struct follow_options *options);

/* Say once, of a job that is not running yet, in which state it is and why; what was said before is in
 * `said`, which starts out zeroed. */
struct follow_said {
    int64_t since; /* clock_elapsed() when it was first looked at */
    bool said, unserved;
};
void follow_jobs_say_waiting(const struct spool *spool, const char *id, struct follow_said *said);

#endif
