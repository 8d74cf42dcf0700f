/* job/sizes.h - the sizes that a job can have
 *
 * What a job is given more or less of is one thing: tasks of its one role, or the GPUs or the
 * processors of its one task.  Its sizes are counted in that: tasks, GPUs, or thousandths of a
 * processor.
 */
#ifndef JOB_SIZES_H
#define JOB_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum size_kind {
    SIZE_FIXED, /* it has one size only */
    SIZE_TASKS, /* of its one role */
    SIZE_GPUS,  /* of its one task */
    SIZE_CPUS   /* of its one task, thousandths */
};

struct sizes {
    enum size_kind kind;
    int64_t least, most; /* 1 to `most`; both are sizes */
    int64_t step;        /* between two sizes; 0: each is twice the one before */
};

enum { SIZES_MOST = 24 }; /* told of one job at most */

/* The sizes, ascending; the last is sizes->most.  Of more than SIZES_MOST only so many are told,
 * the first and the last among them.  How many; 0 for SIZE_FIXED. */
size_t sizes_list(const struct sizes *sizes, int64_t list[static SIZES_MOST]);

const char *size_kind_name(enum size_kind kind); /* "fixed", "tasks", "gpus", "cpus" */

/* "4 tasks", "1 task", "2 GPUs", "1.5 CPUs", "1 CPU"; for SIZE_FIXED the number.  Returns `buffer`. */
enum { SIZE_TEXT_SIZE = 40 };
const char *size_text(enum size_kind kind, int64_t size, char buffer[static SIZE_TEXT_SIZE]);

#endif
