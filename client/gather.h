/* client/gather.h - the jobs of a spool, newest first, one after another
 *
 * Reads as little as possible: the days of done/ from the newest on, each only when the jobs of
 * later days are used up; and nothing of a job but its id.
 */
#ifndef CLIENT_GATHER_H
#define CLIENT_GATHER_H

#include "client/job_filter.h"

struct gathering;

/* Gather the jobs for which job_filter_may_take() is true; the filter must live as long.  NULL
 * with errno when a directory cannot be read. */
struct gathering *gather_open(const struct spool *spool, const struct job_filter *filter);
void gather_close(struct gathering *gathering);

/* The next job, newest first.  1, 0 at the end, -1 with errno when a directory cannot be read. */
int gather_next(struct gathering *gathering, struct job_place *place);

/* Leave out jobs that have ended, those of done/ and failed/, from now on. */
void gather_skip_ended(struct gathering *gathering);

/* At least how many jobs were skipped or are still to come; *more tells whether there are days
 * that were not read. */
size_t gather_left(const struct gathering *gathering, bool *more);

#endif
