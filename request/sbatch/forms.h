/* request/sbatch/forms.h - numbers, sizes and times as Slurm and PBS write them */
#ifndef REQUEST_SBATCH_FORMS_H
#define REQUEST_SBATCH_FORMS_H

#include <stdint.h>

#include "base/text.h"

enum { FORMS_COUNT_MOST = 1000000 };

/* A whole number from 0 to FORMS_COUNT_MOST.  -1 when it is not one. */
int forms_count(struct text text, int64_t *count);

/* Slurm's --time: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
 * days-hours:minutes, days-hours:minutes:seconds; 0 and UNLIMITED, which are no limit, give 0.
 * -1 when it is none of these. */
int forms_slurm_time(struct text text, int64_t *milliseconds);

/* PBS's walltime: seconds, minutes:seconds, hours:minutes:seconds; a fraction of a second is
 * dropped.  -1 when it is none of these. */
int forms_pbs_time(struct text text, int64_t *milliseconds);

/* Slurm's --mem: a number of MiB, or with K, M, G, T of that unit; all are powers of 1024. */
int forms_slurm_memory(struct text text, int64_t *bytes);

/* PBS's mem: a number of bytes, or with kb, mb, gb, tb (k, m, g, t) of that unit. */
int forms_pbs_memory(struct text text, int64_t *bytes);

#endif
