/* stages/shared/growth.h - has the capacity that a refused job lacked become available?
 *
 * The capacity at the time is kept with the job as a text, `cpus=2000 memory=2147483648 gpus=0
 * live=0`: the whole capacity in thousandths of CPUs, bytes and GPUs, the bound for objects at the
 * scheduler (0: none), and `TYPE=N` for each type of GPU that is told apart.
 */
#ifndef STAGES_SHARED_GROWTH_H
#define STAGES_SHARED_GROWTH_H

#include "executors/executor.h"

enum { GROWTH_TEXT_SIZE = 1024 }; /* bytes; whatever does not fit is left out */

/* What a job requests in all. */
struct growth_wanted {
    int64_t cpus, memory;
    int gpus;
};

/* Write the text; returns `buffer`.  A NULL `capacity` (the executor could not be asked) gives "". */
const char *growth_describe(const struct executor *executor, const struct capacity *capacity,
                            char buffer[static GROWTH_TEXT_SIZE]);

/* Is there more of some resource than `before` says, and are those that were too small then large
 * enough now?  `wanted` may be NULL when it is not known what the job requests at once.  A resource
 * that the text does not mention counts as not grown. */
bool growth_is_enough(struct text before, const struct executor *executor,
                      const struct capacity *capacity, const struct growth_wanted *wanted);

#endif
