/* stages/planning/recording.h - DIR/history/plans: what the planner was asked, and what it decided
 *
 * Appended to after each plan, in the form of planner/state_text.h, when the setting planner.record is
 * on; not synced.  When it has 64 MiB it becomes plans.1, in place of the one before.  `dlspool simulate
 * --replay` reads it.
 */
#ifndef STAGES_PLANNING_RECORDING_H
#define STAGES_PLANNING_RECORDING_H

#include "stages/stage.h"

/* Append a plan, as state_text_end() made it.  A failure is logged. */
void recording_append(struct stage *stage, struct text plan);

#endif
