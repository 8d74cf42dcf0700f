/* stages/shared/quarantine.h - a job whose own files are damaged
 *
 * Such a job goes to failed/ with the reason DamagedRecord, and stays there: what it requested can
 * no longer be relied on.  The damaged job.yaml is kept as job.yaml.damaged, and a new one says
 * what is still in the log: who dropped what, when.
 */
#ifndef STAGES_SHARED_QUARANTINE_H
#define STAGES_SHARED_QUARANTINE_H

#include "stages/shared/diagnosis.h"
#include "stages/stage.h"

/* Make a record, in the arena, for a job whose own cannot be read; no file is changed.  The record
 * has no job file, so that the job is never rendered again, and the last attempt that the log or
 * `progress` mentions.  False when neither mentions one: then the attempt is 1. */
bool quarantine_recover(int job, const char *id, struct arena *arena, struct job_record *record);

/* The same, and rename the record that cannot be read. */
void quarantine_salvage(int job, const char *id, struct arena *arena, struct job_record *record);

/* Write into the job's directory that it is damaged, and why.  `record` is its record if that could
 * be read, otherwise NULL.  Nothing is synced or moved.  -1 and a sentence on failure. */
int quarantine_write(int job, const char *id, struct arena *arena, struct job_record *record,
                     const struct error *problem, struct error *error);

#endif
