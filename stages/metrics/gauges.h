/* stages/metrics/gauges.h - what the spool's directories and files say now, as series
 *
 * Jobs are counted by the names of directories, and no job is read; days of done/ only when they have changed.  With
 * `users`, the record of each job that has not ended is read.
 */
#ifndef STAGES_METRICS_GAUGES_H
#define STAGES_METRICS_GAUGES_H

#include "executors/executor.h"
#include "spool/settings.h"
#include "stages/metrics/kept.h"
#include "stages/metrics/queues.h"

/* `executor`: is asked whether it takes jobs; NULL: nobody may ask it.  -1 and a sentence when a directory cannot be
 * read. */
int gauges_collect(const struct spool *spool, const struct settings *settings,
                   struct executor *executor, struct queues *queues, bool users, struct kept *kept,
                   struct series_table *table, struct error *error);

#endif
