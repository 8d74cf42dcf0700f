/* stages/shared/gpu_time.h - how long users, groups and queues have held GPUs within the periods of rows with gpu_hours
 *
 * It is counted from the accounts (spool/usage.h), where each attempt has a line from before it leaves submitted/.
 * A look reads what was added since the last one; the first reads the months of the longest period.  What an
 * attempt held counts evenly over the time that it ran, and a little longer than the period (base/window.h), never
 * shorter.  Unit: a GPU for a millisecond.
 */
#ifndef STAGES_SHARED_GPU_TIME_H
#define STAGES_SHARED_GPU_TIME_H

#include "spool/limit_row.h"
#include "spool/spool.h"

struct gpu_time;

/* NULL when no row has gpu_hours.  The arguments must outlive the result. */
struct gpu_time *gpu_time_new(const struct spool *spool, const struct limit_row *rows,
                              size_t count);
void gpu_time_free(struct gpu_time *time); /* NULL is fine */

/* Read what was added.  -1 and a sentence when that cannot be read; then what was known still counts. */
int gpu_time_look(struct gpu_time *time, struct error *error);

/* What was used in the period of that row by whom `key` names (limit_row_key()); and when at most that much of it
 * will be left. */
int64_t gpu_time_used(const struct gpu_time *time, const struct limit_row *row, struct text key);
int64_t gpu_time_falls(const struct gpu_time *time, const struct limit_row *row, struct text key,
                       int64_t most);

/* Visit all that have used some: `name` is that of the user or queue, or the number of the group. */
typedef void gpu_time_visit(void *context, const struct limit_row *row, struct text key,
                            struct text name);
void gpu_time_walk(const struct gpu_time *time, gpu_time_visit *visit, void *context);

#endif
