/* commands/job_file.h - a job file as its user has it */
#ifndef COMMANDS_JOB_FILE_H
#define COMMANDS_JOB_FILE_H

#include "base/error.h"
#include "base/text.h"

/* Read the file, at most 1 MiB; `-` is standard input.  Paths that are relative to it are written out
 * (request/relative.h), which is said on standard error.  -1 and a sentence. */
int job_file_read(const char *path, struct buffer *bytes, struct error *error);

#endif
