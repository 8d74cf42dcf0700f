/* web/keyed_submission.h - POST of a job file with a header Idempotency-Key: one job, however often it is sent
 *
 * The same key of the same user is the same submission for a day (spool/submission_key.h), also when the page, the
 * daemon or the connection has ended before the reply.  The header is that of
 * draft-ietf-httpapi-idempotency-key-header; the quotes around the key may be left out.
 */
#ifndef WEB_KEYED_SUBMISSION_H
#define WEB_KEYED_SUBMISSION_H

#include "web/exchange.h"

/* Reply 201 with the job that the body has become; 200 with the job when it was sent before; 202 as without a key; 422
 * when another body was sent under the key. */
void keyed_submission_begin(struct exchange *exchange, struct text key, const char *ending);

#endif
