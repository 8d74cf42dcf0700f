/* commands/place.h - which place a waiting job has in the queue, for people */
#ifndef COMMANDS_PLACE_H
#define COMMANDS_PLACE_H

#include "client/view.h"

/* For a job of rendered/ that no plan places: add to its why which place it has among the jobs that wait, as things are
 * now, and what its owner has had where owners share. */
void place_add(const struct spool *spool, struct job_view *view, struct arena *arena);

#endif
