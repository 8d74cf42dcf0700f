/* executors/slurm/accounting.h - what slurmdbd knows of jobs that slurmctld has forgotten
 *
 * slurmctld forgets a job some minutes after its end (MinJobAge); slurmdbd, where there is one,
 * knows it for months.  It keeps a job's comment only if AccountingStoreFlags says so, but always
 * its name; dlspool's jobs are named <id>-a<attempt>.
 */
#ifndef EXECUTORS_SLURM_ACCOUNTING_H
#define EXECUTORS_SLURM_ACCOUNTING_H

#include "executors/slurm/inside.h"

/* What is asked. */
struct slurm_accounting_query {
    const char *user; /* requested as */
    const char *const *names;
    size_t count;
    int64_t since; /* time of day: jobs that ended before are not looked for; 0: thirty days ago */
    bool steps;    /* what their steps used, too */
};

/* The records of jobs of these names, by one call for every forty of them, and sorted as in records.h.  All in
 * the arena.  1; 0: slurmrestd serves no accounting; -1 and a sentence: it cannot be asked now. */
int slurm_accounting_ask(struct slurm *slurm, struct arena *arena,
                         const struct slurm_accounting_query *query, struct slurm_records *records,
                         struct error *error);

/* Read one job of an answer.  False when its name is not one of dlspool's. */
bool slurm_accounting_read(struct slurm_record *record, const struct value *job);

#endif
