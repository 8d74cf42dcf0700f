/* web/requests_api.h - what changes something: POST of a job file, and of what is asked of a job
 *
 * Each becomes a file in incoming/, which is the user's, as this process is; intake decides about it as about any
 * other.
 */
#ifndef WEB_REQUESTS_API_H
#define WEB_REQUESTS_API_H

#include "client/view.h"
#include "web/routes.h"

extern const struct route requests_api_routes[];

/* May the user ask it of the job, and would it do anything, as that is now: kill, retry, hold, release or top? */
bool requests_api_applies(const struct exchange *exchange, const struct job_view *view,
                          const char *verb);

/* Drop a control file for the job: kill, retry, hold, release or top.  False and a sentence when it was refused. */
bool requests_api_ask(struct exchange *exchange, const struct job_view *view, const char *verb,
                      struct error *error);

/* Approve the job, or, with a reason that decision_check_reason() lets pass, refuse to.  HTTP_OK, or another status
 * and a sentence. */
int requests_api_decide(struct exchange *exchange, const struct job_view *view, const char *reason,
                        struct error *error);

#endif
