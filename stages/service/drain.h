/* stages/service/drain.h - is there anything left to do in a spool?
 *
 * Left to do are: files in incoming/ that will become jobs (not somebody's work in progress),
 * claims, jobs in rendered/ and submitted/, and jobs in failed/ that will be retried by
 * themselves: at a time, when there is room, or when the executor answers; and jobs in held/ for
 * which what they wait for has come, or cannot come.  Jobs that wait for a change, for somebody's
 * word, or for such a job or one that is not there are not.
 *
 * Jobs move while one looks, so an answer counts only when two looks in turn found nothing.
 */
#ifndef STAGES_SERVICE_DRAIN_H
#define STAGES_SERVICE_DRAIN_H

#include "spool/spool.h"

struct drain {
    int quiet_looks;
};

bool drain_is_done(struct drain *drain, const struct spool *spool);

#endif
