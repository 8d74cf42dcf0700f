/* web/approval_form.h - what an approval of a job binds, and the buttons by which an approver decides about it */
#ifndef WEB_APPROVAL_FORM_H
#define WEB_APPROVAL_FORM_H

#include "client/view.h"
#include "web/exchange.h"

/* What was wrong with a decision that was sent: of which job, what was typed, and the sentence. */
struct approval_fault {
    const char *id, *sentence;
    struct text reason;
};

/* Does the job wait for an approval that the reader of the page may give? */
bool approval_form_is_wanted(const struct exchange *exchange, const struct job_view *view);

/* Append the SHA-256 of the manifest that would be approved, what today's templates would make of it, and the buttons.
 * `fault` may be another job's, or NULL. */
void approval_form_add(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                       const struct approval_fault *fault);

#endif
