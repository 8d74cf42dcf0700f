/* job/sizes.h - the sizes that a job can have
 *
 * A job is resized in one quantity: the tasks of its one role, or the GPUs or the CPUs of its one
 * task.  Its sizes count that: tasks, GPUs, or thousandths of a CPU.
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
    int64_t step;        /* step between two sizes; 0: each is twice the previous one */
};

enum { SIZES_MOST = 24 }; /* maximum number of sizes listed for one job */

/* List the sizes, ascending; the last is sizes->most.  Of more than SIZES_MOST only that many are
 * listed, the first and the last among them.  Returns how many; 0 for SIZE_FIXED. */
size_t sizes_list(const struct sizes *sizes, int64_t list[static SIZES_MOST]);

const char *size_kind_name(enum size_kind kind); /* "fixed", "tasks", "gpus", "cpus" */

/* "4 tasks", "1 task", "2 GPUs", "1.5 CPUs", "1 CPU"; for SIZE_FIXED the number.  Returns `buffer`. */
enum { SIZE_TEXT_SIZE = 40 };
const char *size_text(enum size_kind kind, int64_t size, char buffer[static SIZE_TEXT_SIZE]);

#endif
