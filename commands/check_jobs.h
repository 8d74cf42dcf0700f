/* commands/check_jobs.h - checks the jobs of a spool */
#ifndef COMMANDS_CHECK_JOBS_H
#define COMMANDS_CHECK_JOBS_H

#include <stddef.h>

#include "commands/findings.h"
#include "spool/spool.h"

struct check_jobs_result {
    size_t jobs, problems;
};

/* Read the files of every job and report a finding for each fault: `rendered/ID: sentence`.
 * Changes nothing.  A job that moves meanwhile is skipped, and files that the caller may not
 * read count as good.  -1 and a sentence when a directory cannot be read. */
int check_jobs(const struct spool *spool, struct findings *findings,
               struct check_jobs_result *result, struct error *error);

#endif
