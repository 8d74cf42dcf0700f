/* web/job_form.h - the form in which a job is described field by field, and the job file that becomes of it */
#ifndef WEB_JOB_FORM_H
#define WEB_JOB_FORM_H

#include "client/job_kinds.h"
#include "web/form.h"

/* Append the form for a library and job type, filled in with what the form has that was sent; NULL: with little.
 * `said` is what is wrong with its job file: what begins with a field's name stands at that field, too. */
void job_form_add(struct buffer *out, const struct job_kind *kind, const struct form *sent,
                  struct text said);

/* Append the job file of a form that was sent.  Values are data: what is typed into a field stays in it. */
void job_form_write(struct arena *arena, const struct form *sent, struct buffer *out);

#endif
