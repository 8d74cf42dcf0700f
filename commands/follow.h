/* commands/follow.h - wait for jobs, as `wait` and `submit --wait` do */
#ifndef COMMANDS_FOLLOW_H
#define COMMANDS_FOLLOW_H

#include "spool/spool.h"

/* Wait until each of the jobs has come to an end (view_has_ended()).  `timeout` in milliseconds, 0
 * for none.  Prints a line for each end; the exit status: 0 all done, 1 some failed or the time is
 * over. */
int follow_jobs(const struct spool *spool, const char *const *ids, size_t count,
                int64_t timeout, bool quiet);

#endif
