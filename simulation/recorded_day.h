/* simulation/recorded_day.h - makes the plans of a recording into a trace, and simulates it
 *
 * Each job is derived from its plans: arrival and deadline are as they say; the work done between
 * two plans is that time at the job's size and at the last known speed; the work left at the end of
 * the recording remains to be done.
 */
#ifndef SIMULATION_RECORDED_DAY_H
#define SIMULATION_RECORDED_DAY_H

#include "planner/state_text.h"

/* The simulation of one pool of the day. */
struct recorded_pool {
    struct text name;
    int capacity;
    size_t jobs;    /* jobs in the trace */
    size_t started; /* in both */
    /* of those: pairs started a tick or more apart; ... and those that the simulation starts in the
     * same order, or at the same time */
    size_t pairs, in_order;
    size_t same_size; /* of those: started at the same size */
    bool too_many;    /* too many jobs to simulate: the rest of this is unknown */
};

struct recorded_day;

struct recorded_day *recorded_day_new(void);
void recorded_day_free(struct recorded_day *day);

/* Add the next plan, before or after it was decided again.  The necessary parts are copied. */
void recorded_day_add(struct recorded_day *day, const struct recorded_plan *plan);

/* Run the simulation.  Returns the pools, in the arena; *count is their number. */
struct recorded_pool *recorded_day_simulate(struct recorded_day *day, struct arena *arena,
                                            size_t *count);

#endif
