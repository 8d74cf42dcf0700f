/* stages/shared/output.h - <id>/output/: what the tasks of a job printed
 *
 * One file for each task, of the current attempt; output-1/, output-2/ ... are of those before.
 * Only the job's owner may read them: output/ has the owner's primary group, and executors give the
 * files in it that group and a mode that excludes others (executors/output_file.h).
 */
#ifndef STAGES_SHARED_OUTPUT_H
#define STAGES_SHARED_OUTPUT_H

#include "executors/executor.h"

/* Open output/ in the job's directory `job` and return its descriptor.  The directory is made if it
 * is missing; anything else of that name becomes output.damaged.  It gets the group `gid`
 * ((gid_t)-1: unknown), if this process may change groups.  -1 and a sentence on failure. */
int output_open(int job, gid_t gid, struct error *error);

/* The end of the output of the task that decided a failure. */
struct output_end {
    char task[80];     /* ROLE-INDEX; empty: there is no such task */
    struct text bytes; /* in the arena; may be empty */
};

/* Its last `limit` bytes, for the patterns of retry.txt.  When several tasks ended with the same
 * exit code, it is the first whose output is not empty, since output may have been lost with a
 * task. */
struct output_end output_of_failure(struct arena *arena, int job, const struct job_poll *poll,
                                    size_t limit);

#endif
