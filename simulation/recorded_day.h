/* simulation/recorded_day.h - the plans of a recording, made into a trace and simulated
 *
 * Of what a job's plans say: it arrived and is due when they say so; it did the work that its size and
 * the speeds that were known at last make of the time between two plans; and what was left at the end
 * of the recording it still has to do.
 */
#ifndef SIMULATION_RECORDED_DAY_H
#define SIMULATION_RECORDED_DAY_H

#include "planner/state_text.h"

/* One pool of the day, simulated. */
struct recorded_pool {
    struct text name;
    int capacity;
    size_t jobs;    /* that are in the trace */
    size_t started; /* in both */
    size_t pairs,
        in_order;     /* of those: pairs started a tick or more apart; ... in the same order by
                                   the simulation, or at once */
    size_t same_size; /* of those: started at the same size */
    bool too_many;    /* jobs to be simulated: nothing of it is known */
};

struct recorded_day;

struct recorded_day *recorded_day_new(void);
void recorded_day_free(struct recorded_day *day);

/* The next plan, before or after it was decided again.  What is needed of it is copied. */
void recorded_day_add(struct recorded_day *day, const struct recorded_plan *plan);

/* Run it.  The pools, in the arena; how many in *count. */
struct recorded_pool *recorded_day_simulate(struct recorded_day *day, struct arena *arena,
                                            size_t *count);

#endif
