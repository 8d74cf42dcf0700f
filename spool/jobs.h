/* spool/jobs.h - finding jobs among the spool's directories */
#ifndef SPOOL_JOBS_H
#define SPOOL_JOBS_H

#include "spool/job.h"

/* Find a job by its id, or by a unique prefix of it.  0; 1 and a sentence when there is none or
 * there are several; -1 and a sentence when that cannot be determined now.  Looks in every state,
 * in done/ from the newest day on. */
int jobs_find(const struct spool *spool, struct text id, struct job_place *place,
              struct error *error);

/* Find a job that is not done by its whole id: reads no directory. */
bool jobs_find_whole(const struct spool *spool, struct text id, struct job_place *place);

/* Find a job in done/ by its whole, valid id: 1 and where it is; 0: it is not there; -1 with errno
 * when that cannot be determined now.  Reads only the names of the days, and no day's directory. */
int jobs_find_done(const struct spool *spool, struct text id, struct job_place *place);

/* Visit every job of a state, in no order; for done/, of all days.  The first result other than 0
 * ends the visit and is returned; -1 with errno when a directory cannot be read. */
typedef int job_visit(void *context, const struct job_place *place);
int jobs_walk(const struct spool *spool, enum state state, job_visit *visit, void *context);
/* The same for one day of done/, which need not exist. */
int jobs_walk_day(const struct spool *spool, const char *date, job_visit *visit, void *context);
/* Visit every job of all states, though jobs move meanwhile: some are then met twice.  As jobs_walk(),
 * but -1 with a sentence. */
int jobs_walk_all(const struct spool *spool, job_visit *visit, void *context, struct error *error);
/* The order in which it looks into them, some again, so that no job is missed. */
enum { JOBS_LOOKS = 7 };
extern const enum state jobs_order[JOBS_LOOKS];
/* The days of done/, newest first; the caller frees them with free().  -1 with errno on failure. */
typedef char day_name[16];
int jobs_list_days(const struct spool *spool, day_name **days, size_t *count);

#endif
