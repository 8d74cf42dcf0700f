/* stages/track/capacity_file.h - DIR/capacity: what the executor has, for those who may not ask it
 *
 * Only the daemon has the executor's credentials; users want to know what is free.  The track stage writes
 * what the executor says every CAPACITY_INTERVAL while there are jobs, and once more when they have ended, whole
 * and in place of the file before; not synced, since it can be asked again.  Lines of `key=value` as in a job's log; docs/spool.md.
 */
#ifndef STAGES_TRACK_CAPACITY_FILE_H
#define STAGES_TRACK_CAPACITY_FILE_H

#include "executors/executor.h"
#include "spool/spool.h"

enum { CAPACITY_INTERVAL = 10000 }; /* milliseconds */

/* -1 when there is none, or it cannot be read. */
int capacity_file_read(const struct spool *spool, struct capacity *capacity, int64_t *time);

/* Ask and write if it is time: *next, of clock_elapsed(), says when it is and is set again; 0 at first.
 * What the executor does not say is not written. */
void capacity_file_note(const struct spool *spool, struct executor *executor, int64_t *next);

#endif
