/* stages/metrics/cluster.h - what the executor has and what of it is in use, as series */
#ifndef STAGES_METRICS_CLUSTER_H
#define STAGES_METRICS_CLUSTER_H

#include "executors/executor.h"
#include "spool/spool.h"
#include "stages/metrics/series.h"

/* As the daemon found it last.  Where that is a minute ago, as while there are no jobs, the executor
 * is asked; NULL: nobody may ask it. */
void cluster_collect(const struct spool *spool, struct executor *executor,
                     struct series_table *table);

#endif
