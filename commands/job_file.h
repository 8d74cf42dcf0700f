/* commands/job_file.h - reads a job file of a user */
#ifndef COMMANDS_JOB_FILE_H
#define COMMANDS_JOB_FILE_H

#include "base/error.h"
#include "base/text.h"

/* Read the file, at most 1 MiB; `-` is standard input.  Relative paths in it are made absolute
 * (request/relative.h), and scripts for Slurm and PBS are told the current directory
 * (request/sbatch/directory.h), with a note on standard error.  -1 and a sentence. */
int job_file_read(const char *path, struct buffer *bytes, struct error *error);

#endif
