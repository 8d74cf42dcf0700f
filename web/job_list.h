/* web/job_list.h - the jobs that the query of a request selects, newest first
 *
 * Fields of the query: mine=true, owner, name, state, queue, since, as the options of `dlspool list`; q, a word; limit,
 * 50 unless said, at most 1,000; after, an id: only jobs that are older; archived=true: those that have gone to
 * archives, by the days of their ends.
 */
#ifndef WEB_JOB_LIST_H
#define WEB_JOB_LIST_H

#include "client/view.h"
#include "web/exchange.h"

struct job_list {
    struct job_view *views; /* in the exchange's arena */
    size_t count;
    bool more; /* there may be older ones */
};

/* HTTP_OK, or another status and a sentence. */
int job_list_read(const struct exchange *exchange, struct job_list *list, struct error *error);

#endif
