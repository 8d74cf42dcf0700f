/* client/check_job.h - says what is wrong with a job file before it is dropped
 *
 * Intake decides; but who drops a file hears here at once what intake would say a moment later.
 */
#ifndef CLIENT_CHECK_JOB_H
#define CLIENT_CHECK_JOB_H

#include "base/arena.h"
#include "base/error.h"
#include "spool/spool.h"

/* Check that the bytes are a job file, that its deadline is not over, and that the site's limits allow it to the
 * caller.  `label` names the file in sentences.  -1 and a sentence. */
int check_job(const struct spool *spool, struct arena *arena, struct text bytes, const char *label,
              struct error *error);

#endif
