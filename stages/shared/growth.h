/* stages/shared/growth.h - has the executor got more than when a job was refused for want of it?
 *
 * What there was is kept with the job as a text, `cpus=2000 memory=2147483648 gpus=0 live=0`: the whole
 * capacity in thousandths of CPUs, bytes and GPUs, the bound for objects at the scheduler (0: none), and
 * `TYPE=N` for each type of GPU that is told apart.
 */
#ifndef STAGES_SHARED_GROWTH_H
#define STAGES_SHARED_GROWTH_H

#include "executors/executor.h"

enum { GROWTH_TEXT_SIZE = 1024 }; /* bytes; what does not fit is left out */

/* What a job asks for in all. */
struct growth_wanted {
    int64_t cpus, memory;
    int gpus;
};

/* Write the text; returns `buffer`.  A NULL `capacity` (it could not be asked) gives "". */
const char *growth_describe(const struct executor *executor, const struct capacity *capacity,
                            char buffer[static GROWTH_TEXT_SIZE]);

/* Is there more of something than `before` says, and is what was too little then enough now?  `wanted`
 * may be NULL, when it is not known what the job asks for at once.  A text that says nothing of what is
 * compared has not grown. */
bool growth_is_enough(struct text before, const struct executor *executor,
                      const struct capacity *capacity, const struct growth_wanted *wanted);

#endif
