/* stages/shared/quarantine.h - a job whose own files are damaged
 *
 * Such a job goes to failed/ with the reason DamagedRecord, and stays there: what it asked for
 * cannot be relied on any more.  The damaged job.yaml is kept as job.yaml.damaged, and a new one
 * says what the log still tells: who dropped what, when.
 */
#ifndef STAGES_SHARED_QUARANTINE_H
#define STAGES_SHARED_QUARANTINE_H

#include "stages/shared/diagnosis.h"
#include "stages/stage.h"

/* Make a record, in the arena, for a job whose own cannot be read; nothing is changed.  It has no job
 * file, so that the job is never rendered again; and the last attempt that the log or `progress` tells
 * of.  False when neither tells of one: it is 1 then. */
bool quarantine_recover(int job, const char *id, struct arena *arena, struct job_record *record);

/* The same, and the record that cannot be read is renamed. */
void quarantine_salvage(int job, const char *id, struct arena *arena, struct job_record *record);

/* Write into the job's directory that it is damaged, and why.  When its record could be read it is
 * given, otherwise NULL.  Nothing is synced or moved.  -1 and a sentence on failure. */
int quarantine_write(int job, const char *id, struct arena *arena, struct job_record *record,
                     const struct error *problem, struct error *error);

#endif
