/* request/sbatch/slurm.h - the options of sbatch, as #SBATCH lines have them */
#ifndef REQUEST_SBATCH_SLURM_H
#define REQUEST_SBATCH_SLURM_H

#include "request/sbatch/rows.h"

/* A row for every option of sbatch(1). */
extern const struct row slurm_rows[];

#endif
