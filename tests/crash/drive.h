/* tests/crash/drive.h - the four stages, round by round in one process, until nothing is left
 *
 * A stage that cannot be opened, or that fails, is opened again a second later, as the supervisor
 * would.  Time passes only between rounds, to when the first stage wants its next.
 */
#ifndef TESTS_CRASH_DRIVE_H
#define TESTS_CRASH_DRIVE_H

#include <stddef.h>

#include "tests/crash/scene.h"

struct drive {
    int most_rounds;     /* of all four; then it counts as wedged */
    int lift_after;      /* rounds after the fault came until calls_lift(); 0: never */
    drop_observer *seen; /* of what the user drops meanwhile; or NULL */
    /* filled in: */
    int rounds;
    bool finished;          /* nothing was left to do */
    bool finished_in_fault; /* ... before the fault was lifted */
};

void drive_run(struct drive *drive, const struct world *world);

/* What is left in the spool, for a comment. */
void drive_describe(const struct world *world, char *text, size_t size);

#endif
