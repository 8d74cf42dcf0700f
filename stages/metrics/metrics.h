/* stages/metrics/metrics.h - the spool as Prometheus reads it
 *
 * metrics_stage writes them to `metrics.file` of dlspool.yaml every `metrics.interval`, for the textfile collector of
 * node_exporter; `dlspool metrics` prints them.  docs/administrator.md has the names.
 */
#ifndef STAGES_METRICS_METRICS_H
#define STAGES_METRICS_METRICS_H

#include "stages/metrics/kept.h"
#include "stages/metrics/queues.h"
#include "stages/stage.h"

extern const struct stage_operations metrics_stage;

/* Bring `kept` up to date, and append all metrics; without `users`, none that tells users apart.  `executor`: as in
 * gauges_collect().  -1 and a sentence; `kept` is of no use then. */
int metrics_print(struct kept *kept, const struct spool *spool, const struct settings *settings,
                  struct executor *executor, struct queues *queues, bool users, struct buffer *out,
                  struct error *error);

/* Replace a file by its path, as a whole, so that a reader never finds half of it.  -1 and a sentence. */
int metrics_write_file(const char *path, struct text bytes, struct error *error);

#endif
