/* stages/track/units.h - how many units a job says that it has done: from what it prints, or a file it writes
 *
 * All of it is written by strangers.  A look reads a bounded number of bytes, the newest; only the last
 * number counts, so what was skipped is not missed.  What is not a number as expected is none.
 * Nothing that was read is ever repeated in a message.
 *
 * The file is read by stages/track/user_file.h: only the job's owner's own, and without waiting for storage that
 * does not answer.
 */
#ifndef STAGES_TRACK_UNITS_H
#define STAGES_TRACK_UNITS_H

#include "executors/executor.h"
#include "spool/record.h"

struct units;

struct units_seen {
    double done;
    double total;    /* 0: it did not say */
    int count;       /* of the lines that said so since the last look; 1 of a file */
    int64_t written; /* of day, when the file was last written; 0: that is not known */
};

/* Of a job that is counted; otherwise NULL.  The record need not live on. */
struct units *units_new(const struct job_record *record);
void units_free(struct units *units);

/* What it has said since the last look, if anything.  `tasks` tell which files of output/ to read: of
 * task 0 of the first role, or, if that says nothing, of the next. */
bool units_look(struct units *units, int job, const struct task_state *tasks, size_t task_count,
                struct units_seen *seen);

/* The number in a progress file's bytes: "12", "12/400", or JSON {"done": 12, "total": 400}. */
bool units_parse(struct text bytes, struct units_seen *seen);

#endif
