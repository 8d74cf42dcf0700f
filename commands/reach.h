/* commands/reach.h - the addresses of a running job, and how its owner connects to them
 *
 * Addresses that are known before the start are in the manifest: ports of this machine, or a
 * cluster's Service.  Those that are chosen at the start, as on Slurm, are in the job's log.  A
 * notebook's token is only in the task's output: it is searched for there, with the caller's
 * rights, and only reach_print() prints it.
 *
 * Known weakness: a token after the first OUTPUT_LOOKED_AT bytes of the output is not found.
 */
#ifndef COMMANDS_REACH_H
#define COMMANDS_REACH_H

#include "client/view.h"

enum { REACH_MOST = 8 }; /* addresses; further ones are left out */

struct reach {
    struct text addresses[REACH_MOST]; /* "gpu1:17234" */
    size_t count;           /* 0: it does not run or listen, or the caller may not see it */
    struct text forward;    /* the command that forwards it to another machine; may be empty */
    struct text url;        /* of a notebook, without its token; may be empty */
    struct text secret_url; /* with its token; empty if the caller may not read the output */
};

/* Read the addresses from the job's directory `job` and its view; `space` is the cluster's
 * namespace from the settings, or empty.  All results are in the arena. */
void reach_read(int job, const struct job_view *view, struct text space, struct arena *arena,
                struct reach *reach);

/* The lines of `dlspool show`. */
void reach_print(const struct reach *reach);

/* Members of an object for --json: `addresses`, `forward`, `url`. */
void reach_put(struct arena *arena, struct value *tree, const struct reach *reach);

#endif
