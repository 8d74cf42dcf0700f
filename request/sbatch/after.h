/* request/sbatch/after.h - --dependency of sbatch and depend= of qsub as the native field `after` */
#ifndef REQUEST_SBATCH_AFTER_H
#define REQUEST_SBATCH_AFTER_H

#include "request/sbatch/rows.h"

/* Keep the conditions; what `after` does not have is refused with what to write instead. */
row_reader sbatch_after_keep;

#endif
