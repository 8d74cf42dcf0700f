/* commands/follow_jobs.h - wait for jobs, as `wait` and `submit --wait` do */
#ifndef COMMANDS_FOLLOW_JOBS_H
#define COMMANDS_FOLLOW_JOBS_H

#include "spool/spool.h"

struct follow_options {
    int64_t timeout;  /* milliseconds; 0: none */
    bool quiet;       /* do not print ends */
    bool any;         /* return when one of them has ended */
    bool exit_status; /* return the exit code of the first job that failed */
    bool json;        /* print each job that ended as an object, not as a line */
};

/* Wait until each of the jobs, given by whole ids, has ended (view_has_ended()).  Prints each
 * end on standard output; prints on standard error, once, what a job that has not started waits
 * for, and that no daemon serves the spool.  Returns the exit status: STATUS_DONE when all are
 * done; STATUS_JOB_FAILED when some failed (with `exit_status` the exit code of the task that
 * decided, where there is one); STATUS_NOT_FOUND when one is gone; at the timeout
 * STATUS_TIMEOUT, or STATUS_UNSERVED when no daemon serves the spool. */
int follow_jobs(const struct spool *spool, const char *const *ids, size_t count,
                const struct follow_options *options);

/* Print once the state of a job that is not running yet, and why.  `said` keeps what was printed
 * before; it starts out zeroed. */
struct follow_said {
    int64_t since; /* clock_elapsed() when it was first looked at */
    bool said, unserved;
};
void follow_jobs_say_waiting(const struct spool *spool, const char *id, struct follow_said *said);

#endif
