/* tests/crash/invariants.h - what must hold, whatever happened
 *
 * Always: each file that was dropped is a job in exactly one state, or still in incoming/ or in
 * .claims/; the scheduler runs each token at most once, and no token twice under different
 * manifests; the bytes of a request are those that were dropped; modes are what they should be.
 *
 * A file that makes an access token is a file of tokens/ instead of a job, with those bytes, until its owner has
 * revoked it.
 *
 * When nothing is left to do, besides: each file is exactly one job, in the state and with the
 * reason that the scene wants; it was run as often as the scene wants; its log begins with
 * `accepted`, folds to the directory that it is in, and has the final event; job.yaml,
 * manifest.yaml and the scheduler agree on the manifest; its output is complete; each attempt that the
 * scheduler has run counts once in the accounts; .claims/, .new/
 * and incoming/ are empty.
 */
#ifndef TESTS_CRASH_INVARIANTS_H
#define TESTS_CRASH_INVARIANTS_H

#include "tests/crash/scene.h"

enum finding { FOUND_GOOD, FOUND_LOST, FOUND_DOUBLED, FOUND_WRONG, FOUND_KINDS };

enum { WHY_SIZE = 1024 };

struct check {
    const struct world *world;
    const struct scene *scene;
    bool ended;          /* nothing is left to do */
    const char *damaged; /* NULL, or the id of a job whose files were damaged: it may also
                                 * end in failed/ with a reason, and have been run less often */
    bool refusals;       /* files may also have been refused (EACCES says so of a file) */
    bool undisturbed;    /* nothing has gone wrong */
    bool littered;       /* what could not be removed may be left, if it does no harm */
    char why[WHY_SIZE];  /* filled in: what does not hold */
};

enum finding invariants_check(struct check *check);

#endif
