/* stages/shared/use_explain.h - why a job has to wait, or is refused, under a row of limits.rows */
#ifndef STAGES_SHARED_USE_EXPLAIN_H
#define STAGES_SHARED_USE_EXPLAIN_H

#include "stages/shared/use.h"

/* The sentence for the job's owner: "user alice uses 8 of 8 GPUs, and the job needs 2 (limits.rows ...)". */
void use_explain(const struct use_over *over, const struct job_record *record, enum use_phase phase,
                 struct error *sentence);

/* ... of one that does not exceed the row, and waits behind others: "queue short: jobs that came before it wait for
 * room (limits.rows ...)". */
void use_explain_line(const struct use_over *over, const struct job_record *record,
                      struct error *sentence);

/* ... and of one that would borrow GPUs for which jobs of those queues wait whose own they are. */
void use_explain_claims(const struct use_over *over, const struct job_record *record,
                        struct error *sentence);

#endif
