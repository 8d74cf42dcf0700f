/* commands/reach.h - where a running job can be connected to, and how its owner opens it
 *
 * What is known beforehand stands in the manifest: the ports of this machine, or a cluster's
 * Service. What is chosen while the job starts, as on Slurm, stands in its log.  The token of a
 * notebook stands in the task's output and nowhere else: it is looked for there, with the rights of
 * who asks, and is part of nothing but what reach_print() prints.
 *
 * Known weakness: of output whose first OUTPUT_LOOKED_AT bytes have no token, none is found.
 */
#ifndef COMMANDS_REACH_H
#define COMMANDS_REACH_H

#include "commands/view.h"

enum { REACH_MOST = 8 }; /* addresses; of a job with more, the first */

struct reach {
    struct text addresses[REACH_MOST]; /* "gpu1:17234" */
    size_t count;        /* 0: it does not run, listens for nobody, or whoever asks may not know */
    struct text forward; /* the command that leads there from a machine outside; may be empty */
    struct text url;     /* of a notebook, without its token; may be empty */
    struct text secret_url; /* with it; empty for who may not read the output */
};

/* From the job's directory `job` and its view; `space` is the cluster's namespace that the settings
 * name, or empty.  All lies in the arena. */
void reach_read(int job, const struct job_view *view, struct text space, struct arena *arena,
                struct reach *reach);

/* The lines of `dlspool show`. */
void reach_print(const struct reach *reach);

/* Members of an object for --json: `addresses`, `forward`, `url`. */
void reach_put(struct arena *arena, struct value *tree, const struct reach *reach);

#endif
