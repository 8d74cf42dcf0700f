/* request/sbatch/shares.h - lays nodes and tasks of Slurm, and chunks of PBS, on dlspool's tasks
 *
 * A batch script runs once.  So of the types single and array the one task has the CPUs, the memory
 * and the GPUs of all that Slurm calls tasks.  Of the types distributed and elastic each of Slurm's
 * tasks is a task, and of the type mpi each node is one.
 */
#ifndef REQUEST_SBATCH_SHARES_H
#define REQUEST_SBATCH_SHARES_H

#include "request/sbatch/batch_options.h"

/* Write count, cpus, memory and gpus of the only role that `root` has, which is made if there is
 * none; and add the variables that tell a script that runs once what it asked for. */
void shares_put(struct batch_options *options, struct value *root);

#endif
