/* web/openpai_submit.h - what OpenPAI's clients change: they post jobs, and stop and start them */
#ifndef WEB_OPENPAI_SUBMIT_H
#define WEB_OPENPAI_SUBMIT_H

#include "client/view.h"
#include "web/exchange.h"

/* The fields of a body that is a form or JSON.  NULL after a reply when it is neither. */
struct value *openpai_submit_fields(struct exchange *exchange);

/* POST of a job of version 2: the body is the job file. */
void openpai_submit_job(struct exchange *exchange);

/* POST of a job of version 1, as JSON or as a form with brackets, of the user in the first part of the path. */
void openpai_submit_of_user(struct exchange *exchange);

/* PUT {"value": "STOP"} kills the job, "START" retries it. */
void openpai_submit_execute(struct exchange *exchange, const struct job_view *view);

#endif
