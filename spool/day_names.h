/* spool/day_names.h - the jobs of past days of done/ by name, in sorted files that are searched in place
 *
 * history/names/DAY has the ids of the jobs of done/DAY, for days with many, and the time at which that directory was
 * changed last.  Where it is another by now, or the file is missing or damaged, the directory itself is read: the files
 * only save time, and can be removed.  docs/spool.md has the format.
 */
#ifndef SPOOL_DAY_NAMES_H
#define SPOOL_DAY_NAMES_H

#include "spool/jobs.h"

/* Visit the jobs of that day of done/ whose ids begin with `begin`, in no order; some are met twice.  As
 * jobs_walk_day(). */
int day_names_visit(const struct spool *spool, const char *day, struct text begin, job_visit *visit,
                    void *context);

/* The same for all days of done/, with one of `begins`.  As jobs_walk(). */
int day_names_visit_done(const struct spool *spool, const struct text *begins, size_t count,
                         job_visit *visit, void *context);

/* Visit the jobs of all states whose ids begin with one of `begins`; of states other than done/ also others.  As
 * jobs_walk_all(). */
int day_names_visit_all(const struct spool *spool, const struct text *begins, size_t count,
                        job_visit *visit, void *context, struct error *error);

/* How many jobs done/ has.  -1 with errno when that cannot be determined. */
int64_t day_names_count_done(const struct spool *spool);

#endif
