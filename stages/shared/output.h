/* stages/shared/output.h - <id>/output/: what the tasks of a job printed
 *
 * One file for each task, of the current attempt; output-1/, output-2/ ... are of those before.
 * They are for the job's owner: output/ has the owner's primary group, and executors give the files in it that
 * group and a mode that shuts others out (executors/output_file.h).
 */
#ifndef STAGES_SHARED_OUTPUT_H
#define STAGES_SHARED_OUTPUT_H

#include "executors/executor.h"

/* A descriptor of output/ in the job's directory `job`.  It is made if it is not there; what has its
 * name and is no directory becomes output.damaged.  It has the group `gid` ((gid_t)-1: none is
 * known), as far as we may give files away.  -1 and a sentence on failure. */
int output_open(int job, gid_t gid, struct error *error);

/* The end of what the task which decided a failure has printed. */
struct output_end {
    char task[80];     /* ROLE-INDEX; empty: there is no such task */
    struct text bytes; /* in the arena; may be empty */
};

/* Its last `limit` bytes, for the patterns of retry.txt.  Of several that ended with the same exit code, of the
 * first that has printed anything: what one printed may have gone with it. */
struct output_end output_of_failure(struct arena *arena, int job, const struct job_poll *poll,
                                    size_t limit);

#endif
