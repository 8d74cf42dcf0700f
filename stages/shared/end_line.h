/* stages/shared/end_line.h - one line of the service's log for each job that has come to an end
 *
 *   dlspool[track]: digits-1m7y5dm13etbd: owner=ann state=done elapsed=12.3s attempt=1
 *   dlspool[track]: digits-1m7y5dm13etbd: owner=ann state=failed reason=Exited class=permanent
 *       exit_code=1 retry=never elapsed=0.8s attempt=2 (task main-0 ended with exit code 1)
 *
 * on one line, always in this order, fields without a value left out; quoted as in the job's own log.  In
 * parentheses is the first line of `why`.
 */
#ifndef STAGES_SHARED_END_LINE_H
#define STAGES_SHARED_END_LINE_H

#include "spool/record.h"
#include "spool/spool.h"

/* Count it (base/tally.h), and log it for the job with the directory `job`, which has just been moved
 * to done/ or failed/.  A job that goes on by itself as soon as there is capacity, or an executor, or that was
 * stopped at its checkpoint has not ended: its line is logged as a detail. */
void end_line_log(int job, const char *id, enum state state);
/* The same for a job that has been moved to done/, of which the caller knows what its files say: nothing is read.
 * `elapsed`: how long its last attempt ran, milliseconds; -1: that is not known. */
void end_line_log_done(const struct job_record *record, int64_t elapsed);

#endif
