/* commands/simulate_replay.h - dlspool simulate --replay: repeats recorded decisions */
#ifndef COMMANDS_SIMULATE_REPLAY_H
#define COMMANDS_SIMULATE_REPLAY_H

#include <stdbool.h>

/* Repeat the decisions that planner.record wrote to `path`, and print how many differ, as JSON or for
 * people.  The status: STATUS_FAILED when some differ, and after a complaint when `path` cannot be
 * read. */
int simulate_replay(const char *path, bool json);

#endif
