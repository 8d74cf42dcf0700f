/* stages/planning/allowance.h - what the rows of limits.rows leave to the jobs of a plan, as who counts it tells */
#ifndef STAGES_PLANNING_ALLOWANCE_H
#define STAGES_PLANNING_ALLOWANCE_H

#include <stdbool.h>

#include "spool/record.h"

/* What the rows of limits.rows leave; in `record` the size is size_now. */
struct allowance {
    /* Questions for one plan begin; false: no row limits what runs, or that is not known now.  Then what counted for
     * them ends. */
    bool (*begin)(void *context);
    void (*end)(void *context);
    /* May a job that waits start, or one that runs have this size in place of its own? */
    bool (*allow)(void *context, const char *id, const struct job_record *record);
    /* One that waits counts until the end of these questions; one that runs counts with that size. */
    void (*count)(void *context, const char *id, const struct job_record *record);
    void (*grow)(void *context, const char *id, const struct job_record *record);
    /* Does the job know that it waits for a row? */
    bool (*is_told)(void *context, const char *id);
    void *context;
};

#endif
