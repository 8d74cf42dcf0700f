/* stages/track/lost.h - a job that the executor has, and whose directory somebody has removed
 *
 * What it has at the executor would run on, and stay for ever, followed by nobody.  So it is ended and
 * removed there; but only what this process has followed itself, or what the executor says for certain
 * is of this spool, and only once its directory has been looked for in every state, again and again,
 * for LOST_PATIENCE: one that cannot be seen now, because a file server is slow or somebody moves
 * it, is not lost.  As soon as it is seen again, nothing has happened.
 *
 * What was ended so is written down (removed_file.h).
 *
 * Weakness: what the executor does not know to be of this spool for certain (executor.h, list(): an older
 * dlspool handed it in, or the spool is a copy) stays, when it is removed while no daemon serves the spool.
 */
#ifndef STAGES_TRACK_LOST_H
#define STAGES_TRACK_LOST_H

#include "stages/track/inside.h"

enum {
    LOST_PATIENCE = 30000,
    STRAYS_INTERVAL = 300000, /* milliseconds */
    LOST_AT_ONCE = 16 /* jobs of which the executor is asked in one round: others are not delayed */
};

/* At the start of each round.  In the first, and every STRAYS_INTERVAL: follow what the executor has of jobs that have no
 * directory, so that lost_look() sees to them. */
void lost_find_orphans(struct tracker *tracker);

/* The directory of a job that is followed is not in submitted/.  True when the job is to be
 * forgotten: it is in another state, or gone with all that the executor had of it. */
bool lost_look(struct tracker *tracker, struct tracked *tracked);

#endif
