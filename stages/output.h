/* stages/output.h - <id>/output/: what the tasks of a job printed
 *
 * One file for each task, of the current attempt; output-1/, output-2/ ... are of those before.
 */
#ifndef STAGES_OUTPUT_H
#define STAGES_OUTPUT_H

#include "executors/executor.h"

/* Copy what is new.  `job` is the job's directory.  -1 and a sentence when it could not be. */
int output_copy(struct executor *executor, int job, const char *id, int attempt,
                struct error *error);

/* The last `limit` bytes that the task which decided a failure has printed, in the arena; empty
 * when there is none.  For the patterns of retry.txt. */
struct text output_of_failure(struct arena *arena, int job, const struct job_poll *poll,
                              size_t limit);

#endif
