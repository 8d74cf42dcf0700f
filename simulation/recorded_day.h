/* simulation/recorded_day.h - the plans of a recording, made into a trace and simulated
 *
 * Of what a job's plans say: it arrived and is due when they say so; it did the work that its size and
 * the speeds that were known at last make of the time between two plans; and what was left at the end
 * of the recording it still has to do.
 */
#ifndef SIMULATION_RECORDED_DAY_H
#define SIMULATION_RECORDED_DAY_H

#include "planner/state_text.h"
#include "simulation/replay.h"

struct recorded_day;

struct recorded_day *recorded_day_new(void);
void recorded_day_free(struct recorded_day *day);

/* The next plan, before or after it was decided again.  What is needed of it is copied. */
void recorded_day_add(struct recorded_day *day, const struct recorded_plan *plan);

/* Run it, and fill in the pools of `replay`. */
void recorded_day_simulate(struct recorded_day *day, struct arena *arena, struct replay *replay);

#endif
