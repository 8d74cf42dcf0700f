/* web/archived_jobs.h - jobs that have gone to archives, from the lines of their indexes
 *
 * What everybody may know of a job is there, and the first sentence of its why; its files are in the archives
 * (web/archived_files.h).
 */
#ifndef WEB_ARCHIVED_JOBS_H
#define WEB_ARCHIVED_JOBS_H

#include "client/view.h"
#include "web/exchange.h"

/* Give take() each archived job that ended since then, the last day of an end first, until it returns false.  A view
 * lasts for the call, unless archived_jobs_keep() has it last as long as the arena.  -1 and a sentence. */
typedef bool archived_jobs_take(void *context, const struct job_view *view);
int archived_jobs_walk(const struct spool *spool, int64_t since, archived_jobs_take *take,
                       void *context, struct error *error);
void archived_jobs_keep(struct job_view *view, struct arena *arena);

/* Find the job that the word means, as on the command line.  HTTP_OK, or another status and a sentence. */
int archived_jobs_find(const struct exchange *exchange, struct text word, struct job_view *view,
                       struct error *error);

#endif
