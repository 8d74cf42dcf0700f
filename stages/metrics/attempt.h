/* stages/metrics/attempt.h - what an attempt of a job that has ended adds to counters */
#ifndef STAGES_METRICS_ATTEMPT_H
#define STAGES_METRICS_ATTEMPT_H

#include "base/names.h"
#include "spool/usage.h"
#include "stages/metrics/series.h"

/* Add it to all series that have a part of it.  `missed`: jobs whose missed deadline is counted already; a job of
 * which several attempts miss it counts once, as long as it is among the last that the table has room for. */
void attempt_count(struct series_table *series, struct names *missed, const struct usage *usage);

#endif
