/* stages/prune/prune.h - an end for old jobs: to archives what has ended long ago, by `keep` of dlspool.yaml
 *
 * A pass archives jobs of done/ and failed/ that are old enough, or too large together, and removes them; and
 * removes the output of those that keep the rest.  A job that comes back by itself, that another one waits
 * for, or about which somebody has asked for something stays.  The daemon makes a pass once a day in
 * a process of its own, at the lowest priority; `dlspool prune` makes one at once.
 *
 * In slices of SLICE_JOBS, so memory does not grow with the spool, each of which can be stopped anywhere:
 *
 *   1. archives and index are written beside, under hidden names, and synced;
 *   2. they are renamed into place, the index last, and the directory is synced: now the jobs are archived;
 *   3. each job is renamed out of its state and then removed; the states' directories are synced.
 *
 * So of a day only jobs of its last part can still be in the spool after a crash: the next pass finds
 * them there and only removes them.
 */
#ifndef STAGES_PRUNE_PRUNE_H
#define STAGES_PRUNE_PRUNE_H

#include "stages/stage.h"

enum prune_rule { PRUNE_DONE, PRUNE_FAILED, PRUNE_OUTPUT, PRUNE_SIZE, PRUNE_RULES };

struct prune_count {
    int64_t jobs, bytes; /* as the file system counts them */
};

struct prune_report {
    struct prune_count rules[PRUNE_RULES];
    int64_t waited_for;     /* jobs that stay as others wait for them */
    int64_t failures;       /* jobs that stay as something went wrong; the log says what */
    int64_t archived_bytes; /* of the archives that were written */
    int64_t over_bytes;     /* more than keep.size is taken by what stays */
    bool stopped;           /* told to stop before it was through */
};

const char *prune_rule_name(enum prune_rule rule); /* "done", ... */

extern const struct stage_operations prune_stage;

/* Make one pass now; `dry`: only count what would go.  -1 and a sentence. */
int prune_once(const char *directory, bool dry, struct prune_report *report, struct error *error);

#endif
