/* spool/history_runs.h - the inside of the history: its lines, and rebuilding it
 *
 * Only history.c, history_rebuild.c and their tests include this.
 */
#ifndef SPOOL_HISTORY_RUNS_H
#define SPOOL_HISTORY_RUNS_H

#include "base/arena.h"
#include "spool/progress_file.h"
#include "spool/record.h"
#include "spool/spool.h"

struct history;
struct past_run;

/* Append the line of a run. */
void history_runs_format(const struct past_run *run, struct buffer *out);

/* Read lines, each run once.  Texts are in the arena or in `source`. */
void history_runs_parse(struct arena *arena, struct text source, struct history *history);

/* Append the lines of a job's runs that ended at `now`: those of the attempt in `progress`, or of
 * all. */
void history_runs_add(const struct job_record *record, const struct progress *progress,
                      bool finished, bool all, int64_t now, struct buffer *out);

/* Replace the file by the newest of the lines. */
int history_runs_replace(int directory, struct text lines, struct error *error);

#endif
