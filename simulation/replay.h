/* simulation/replay.h - a recorded day of the service, decided again and simulated
 *
 * The recording (planner/state_text.h) holds what the planner was told and what it decided, plan by
 * plan.  Deciding again with the same code must give the same, bit for bit.
 *
 * The day is also made into a trace: each job with its arrival, its deadline, the speeds that were known
 * of it at last, and the work that it did at those in the time that it ran.  The simulation runs that
 * trace from its first arrival on, and what it starts in which order, and at which size, is held against
 * what was done.  Both cannot be the same in all: the simulation knows the work from the start, all
 * restarts take as long, and no job has to be left alone.  So this is told, not judged.
 */
#ifndef SIMULATION_REPLAY_H
#define SIMULATION_REPLAY_H

#include "base/arena.h"
#include "base/error.h"
#include "simulation/recorded_day.h"

enum { REPLAY_MOST_DIFFERENCES = 10 };

struct replay {
    size_t plans, decisions, different;
    const char *differences[REPLAY_MOST_DIFFERENCES]; /* sentences, of the first; in the arena */
    struct recorded_pool *pools;                      /* in the arena */
    size_t pool_count;
};

/* -1 and a sentence when the recording is damaged. */
int replay_run(struct arena *arena, struct text recording, struct replay *replay,
               struct error *error);

#endif
