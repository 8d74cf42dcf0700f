/* request/sbatch/pbs.h - the options of qsub, as #PBS lines have them
 *
 * Those of PBS Professional and OpenPBS, and those of Torque, as far as they do not contradict each
 * other.
 */
#ifndef REQUEST_SBATCH_PBS_H
#define REQUEST_SBATCH_PBS_H

#include "request/sbatch/rows.h"

/* A row for every option of qsub(1B). */
extern const struct row pbs_rows[];

#endif
