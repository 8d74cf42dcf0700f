/* web/job_facts.h - what is told of a job, and what has happened to it */
#ifndef WEB_JOB_FACTS_H
#define WEB_JOB_FACTS_H

#include "client/view.h"
#include "web/exchange.h"

/* Append its facts, those first that change; `job` is its open directory, or -1: it has none. */
void job_facts_add(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                   int job);

/* Append what its log tells, the last first. */
void job_facts_add_log(struct buffer *out, const char *id, struct text log);

#endif
