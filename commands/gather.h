/* commands/gather.h - the jobs of a spool, newest first, one after another
 *
 * Reads no more than it must: of done/ the newest days first, and no day before what came before it is used
 * up; of a job nothing but its id until it is asked for.
 */
#ifndef COMMANDS_GATHER_H
#define COMMANDS_GATHER_H

#include "commands/job_filter.h"

struct gathering;

/* Only what job_filter_may_take(); the filter must live as long.  NULL with errno when a directory cannot be
 * read. */
struct gathering *gather_open(const struct spool *spool, const struct job_filter *filter);
void gather_close(struct gathering *gathering);

/* The next job, newest first.  1, 0 at the end, -1 with errno when a directory cannot be read. */
int gather_next(struct gathering *gathering, struct job_place *place);

/* Leave out jobs that have ended, those of done/ and failed/, from now on. */
void gather_skip_ended(struct gathering *gathering);

/* Of the jobs that were skipped, or are still to come: how many there are at least, and are there days that
 * were not looked at? */
size_t gather_left(const struct gathering *gathering, bool *more);

#endif
