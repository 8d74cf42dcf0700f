/* stages/track/units.h - how many units a job reports as done, in what it prints or in a file that
 * it writes
 *
 * All of it is untrusted.  Each look reads a bounded number of bytes, the newest; only the last
 * number counts, so skipped bytes are not missed.  Text that is not the expected number is ignored.
 * No message ever quotes what was read.
 *
 * stages/track/user_file.h reads the file: only one that belongs to the job's owner, and without
 * waiting for storage that does not answer.
 */
#ifndef STAGES_TRACK_UNITS_H
#define STAGES_TRACK_UNITS_H

#include "executors/executor.h"
#include "spool/record.h"

struct units;

struct units_seen {
    double done;
    double total;    /* 0: it did not say */
    int count;       /* number of lines that reported units since the last look; 1 for a file */
    int64_t written; /* time of day when the file was last written; 0: unknown */
};

/* For a job with units; otherwise NULL.  The record may be freed afterwards. */
struct units *units_new(const struct job_record *record);
void units_free(struct units *units);

/* What the job has reported since the last look, if anything.  `tasks` say which files of output/
 * to read: that of task 0 of the first role, or, if it reports nothing, of the next role. */
bool units_update(struct units *units, int job, const struct task_state *tasks, size_t task_count,
                  struct units_seen *seen);

/* The number in a progress file's bytes: "12", "12/400", or JSON {"done": 12, "total": 400}. */
bool units_parse(struct text bytes, struct units_seen *seen);

#endif
