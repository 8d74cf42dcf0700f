/* request/sbatch/begin.h - --begin of sbatch and -a of qsub as the native field `begin` */
#ifndef REQUEST_SBATCH_BEGIN_H
#define REQUEST_SBATCH_BEGIN_H

#include "request/sbatch/rows.h"

/* Keep the time as `begin` writes it; the row's words say what was expected. */
row_reader sbatch_begin_keep_slurm, sbatch_begin_keep_pbs;

#endif
