/* stages/notify/webhook.h - posts a message to a URL
 *
 * Weakness: what the server answers beyond its status is not looked at.
 */
#ifndef STAGES_NOTIFY_WEBHOOK_H
#define STAGES_NOTIFY_WEBHOOK_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* Find out the URL: `webhook` itself, or the first line of the file that it names.  -1 and a sentence, which does not
 * quote it. */
int webhook_resolve(struct text webhook, struct buffer *url, struct error *error);

/* Post the JSON with the header Idempotency-Key.  Neither redirections nor other protocols are followed.  -1 and a
 * sentence unless the answer is one of 200 to 299. */
int webhook_post(const char *url, struct text json, const char *key, int64_t timeout,
                 struct error *error);

#endif
