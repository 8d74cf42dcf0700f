/* web/archived_page.h - the page of a job that has gone to an archive */
#ifndef WEB_ARCHIVED_PAGE_H
#define WEB_ARCHIVED_PAGE_H

#include "client/view.h"
#include "web/exchange.h"

/* Reply with it: what the index of the archive tells of the job, and its files from there. */
void archived_page_reply(struct exchange *exchange, const struct job_view *view);

#endif
