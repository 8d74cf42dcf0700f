/* stages/metrics/queues.h - what rows of limits.rows allow queues, and what those have of it, as series
 *
 * The jobs of submitted/ are counted as the submit stage counts them (stages/shared/use.h): each is read once.
 */
#ifndef STAGES_METRICS_QUEUES_H
#define STAGES_METRICS_QUEUES_H

#include "spool/settings.h"
#include "spool/spool.h"
#include "stages/metrics/series.h"

struct queues;

/* NULL where no row is for a queue, and then nothing is read.  Both must outlive the result. */
struct queues *queues_new(const struct spool *spool, const struct settings *settings);
void queues_free(struct queues *queues); /* NULL is fine */

/* Look again, and add queue_limit and queue_used.  NULL is fine.  -1 and a sentence when submitted/ cannot be read. */
int queues_collect(struct queues *queues, struct series_table *table, struct error *error);

#endif
