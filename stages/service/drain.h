/* stages/service/drain.h - tells whether anything is left to do in a spool
 *
 * Left to do are: files in incoming/ that will become jobs (not files still being written); claims;
 * jobs in rendered/ and submitted/; jobs in failed/ that will be retried by themselves, at a time,
 * when capacity is free or when the executor answers; and jobs in held/ whose wait is over, or can
 * never be.  Jobs that wait for a change, for a command, for another job that so waits, or for a
 * job that does not exist are not left to do.
 *
 * Jobs move while drain looks, so the answer counts only when two looks in a row found nothing.
 */
#ifndef STAGES_SERVICE_DRAIN_H
#define STAGES_SERVICE_DRAIN_H

#include "spool/spool.h"

struct drain {
    int quiet_looks;
};

bool drain_is_done(struct drain *drain, const struct spool *spool);

#endif
