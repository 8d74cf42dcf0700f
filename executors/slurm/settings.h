/* executors/slurm/settings.h - the part `slurm:` of dlspool.yaml
 *
 *   address          where slurmrestd listens: unix:/PATH, http://HOST:PORT or https://HOST:PORT;
 *                    default unix:/run/slurmrestd/slurmrestd.socket
 *   ca_file          PEM file with the authorities that are trusted for an https:// address; ""
 *                    (default): the machine's
 *   user             account that all jobs run as; "" (default): each runs as its owner
 *   token_file       file that holds one JSON Web Token; "" (default): none
 *   token_directory  directory with a token for each user in a file of the user's name; ""
 *                    (default): none.  Without either, slurmrestd identifies dlspool by the unix
 *                    socket
 *   directory        where jobs' files are kept, on storage that dlspool and all nodes see under the
 *                    same path; "" (default): .slurm in the spool
 *   api              version of slurmrestd's interface, such as v0.0.38; "" (default): the newest
 *                    that both sides know
 *   live_max         maximum number of jobs at Slurm, default 1000; 0: no limit
 *   in_flight        requests under way at a time, default 8
 *   request_timeout  of one request, default 30s
 *   connect_timeout  of making a connection, default 10s
 *   log_limit        of one task's output, default "100Mi"
 */
#ifndef EXECUTORS_SLURM_SETTINGS_H
#define EXECUTORS_SLURM_SETTINGS_H

#include "base/error.h"
#include "base/value.h"

struct slurm_settings {
    struct text address;
    struct text ca_file, user, token_file, token_directory, directory; /* each may be empty */
    int api; /* 38 for v0.0.38; 0: determine it */
    int64_t live_max;
    int in_flight;
    int64_t request_timeout, connect_timeout; /* milliseconds */
    int64_t log_limit;                        /* bytes */
};

/* `settings` is the tree of dlspool.yaml, or NULL for all defaults.  What is read lives in the
 * arena.  -1 and a sentence on failure. */
int slurm_settings_read(struct slurm_settings *slurm, struct arena *arena,
                        const struct value *settings, struct error *error);

#endif
