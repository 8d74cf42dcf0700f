/* stages/shared/account_files.h - the line of an attempt in the accounts (spool/usage.h), from the job's files
 *
 * For an attempt whose end is written down already, by a process before this one, or that is given up.
 */
#ifndef STAGES_SHARED_ACCOUNT_FILES_H
#define STAGES_SHARED_ACCOUNT_FILES_H

#include "spool/record.h"
#include "spool/usage.h"

/* Append the line of the attempt in the record to `lines`, by the log and the progress of the job directory
 * `job`, which are read into *progress: a job that has no progress file ran for the time that its log tells.
 * `done`: the job is. */
void account_files_line(int job, const struct job_record *record, bool done, struct arena *arena,
                        struct progress *progress, struct buffer *lines);

#endif
