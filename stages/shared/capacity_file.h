/* stages/shared/capacity_file.h - DIR/capacity: the executor's capacity and nodes, for users who may
 * not ask it
 *
 * Only the daemon has the executor's credentials, but users want to know what is free, and where.  The track
 * stage writes the file every CAPACITY_INTERVAL while there are jobs, and once more when they have
 * ended, replacing it as a whole; it is not synced, since the executor can be asked again.  Lines
 * of `key=value` as in a job's log; docs/spool.md.
 */
#ifndef STAGES_SHARED_CAPACITY_FILE_H
#define STAGES_SHARED_CAPACITY_FILE_H

#include "executors/nodes.h"
#include "spool/spool.h"

enum { CAPACITY_INTERVAL = 10000 }; /* milliseconds */

/* `nodes` is filled with those that it has; NULL: they are not wanted.  -1 when there is none, or it
 * cannot be read. */
int capacity_file_read(const struct spool *spool, struct capacity *capacity, struct nodes *nodes,
                       int64_t *time);

/* Ask and write if it is due: *next, of clock_elapsed(), says when, and is updated; 0 at first.
 * Values that the executor does not report are not written. */
void capacity_file_note(const struct spool *spool, struct executor *executor, int64_t *next);

#endif
