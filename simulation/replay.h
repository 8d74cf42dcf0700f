/* simulation/replay.h - decides a recorded day of the service again, and simulates it
 *
 * The recording (planner/state_text.h) holds what the planner was told and what it decided, plan by
 * plan.  Deciding again with the same code must give the same decisions, bit for bit.
 *
 * The day is also made into a trace: each job with its arrival, its deadline, its last known
 * speeds, and the work that it did at those speeds while it ran.  The simulation runs that trace
 * from the first arrival on, and the order and sizes in which it starts jobs are compared with what
 * was really done.  The two cannot agree entirely: the simulation knows the work from the start,
 * all its restarts take equally long, and it may change every job.  So the differences are
 * reported, not judged.
 */
#ifndef SIMULATION_REPLAY_H
#define SIMULATION_REPLAY_H

#include "base/arena.h"
#include "base/error.h"
#include "simulation/recorded_day.h"

enum { REPLAY_MOST_DIFFERENCES = 10 };

struct replay {
    size_t plans, decisions, different;
    /* sentences about the first ones; in the arena */
    const char *differences[REPLAY_MOST_DIFFERENCES];
    struct recorded_pool *pools; /* in the arena */
    size_t pool_count;
};

/* -1 and a sentence when the recording is damaged. */
int replay_run(struct arena *arena, struct text recording, struct replay *replay,
               struct error *error);

#endif
