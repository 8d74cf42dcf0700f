/* executors/slurm/version.h - the versions of slurmrestd's interface, and how they differ
 *
 *   v0.0.36  Slurm 20.11     v0.0.39  23.02     v0.0.42  24.11
 *   v0.0.37  21.08           v0.0.40  23.11     v0.0.43  25.05
 *   v0.0.38  22.05           v0.0.41  24.05
 *
 * Each Slurm also serves some older versions.  Up to v0.0.38 numbers are numbers, the environment
 * is an object, a state is a word, and a job asks for GPUs by `gres`, `gpus_per_task` and the like,
 * as sbatch does.  From v0.0.39 on, made by Slurm's data_parser plugins, numbers that may be unset
 * are {"set": true, "infinite": false, "number": 5}, the environment is a list of "NAME=value",
 * flags and (from v0.0.40 on) states are lists, and resources are TRES.
 */
#ifndef EXECUTORS_SLURM_VERSION_H
#define EXECUTORS_SLURM_VERSION_H

#include "base/error.h"
#include "base/value.h"

enum { SLURM_API_OLDEST = 36, SLURM_API_NEWEST = 43 }; /* what was written with, or read of */

struct slurm_version {
    int api;      /* 38 for /slurm/v0.0.38/ */
    int database; /* of /slurmdb/v0.0.N/; 0: slurmrestd does not serve it */
    int release;  /* of Slurm: 2205 for 22.05; 0: not known */
};

/* Choose a version from an OpenAPI document: the newest that is not newer than SLURM_API_NEWEST,
 * else the oldest available.  -1 and a sentence when there is none, or not the one that is required
 * (0: any).
 */
int slurm_version_choose(const struct value *document, int wanted, struct slurm_version *version,
                         struct error *error);

bool slurm_version_is_structured(const struct slurm_version *version);

/* How a TRES is written in a request: "gres:gpu" before 24.05, "gres/gpu" from there on. */
const char *slurm_version_gpu_tres(const struct slurm_version *version);

#endif
