/* stages/planning/runs.h - history/runs in memory, read again when it has changed
 *
 * It is not read so often that predicting everything again would take more than a small part of the
 * time.
 */
#ifndef STAGES_PLANNING_RUNS_H
#define STAGES_PLANNING_RUNS_H

#include "planner/predict.h"
#include "spool/history.h"

struct runs;

struct runs *runs_new(const struct spool *spool);
void runs_free(struct runs *runs); /* NULL is fine */

/* Read the file if it has changed.  A failure is logged, and what was known stays. */
void runs_refresh(struct runs *runs);

/* Goes up whenever what is known has changed; 1 at first. */
uint64_t runs_generation(const struct runs *runs);

/* Note how many milliseconds it took to predict everything: the file is not read again for a
 * multiple of that time. */
void runs_note_cost(struct runs *runs, int64_t took);

const struct predict_past *runs_past(const struct runs *runs); /* NULL: there is none */
const struct history *runs_history(const struct runs *runs);   /* until the next refresh */

#endif
