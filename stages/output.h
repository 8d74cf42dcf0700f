/* stages/output.h - <id>/output/: what the tasks of a job printed
 *
 * One file for each task, of the current attempt; output-1/, output-2/ ... are of those before.
 */
#ifndef STAGES_OUTPUT_H
#define STAGES_OUTPUT_H

#include "executors/executor.h"

/* A descriptor of output/ in the job's directory `job`, which is made if it is not there.  -1 and a
 * sentence on failure. */
int output_open(int job, struct error *error);

/* The last `limit` bytes that the task which decided a failure has printed, in the arena; empty
 * when there is none.  For the patterns of retry.txt. */
struct text output_of_failure(struct arena *arena, int job, const struct job_poll *poll,
                              size_t limit);

#endif
