/* stages/prepare/option_rules.h - what --partition, --account and the like of batch scripts mean at this site
 *
 * Queues, accounts and features have other names at each site.  The members `sbatch` (#SBATCH
 * lines) and `pbs` (#PBS lines) of site.yaml have rules:
 *
 *   sbatch:
 *     rules:
 *       - {account: physics, partition: gpu, queue: physics-gpu}
 *       - {constraint: a100, gpu_type: a100}
 *       - {account: "*"}                       # any; it has no effect here
 *
 * A rule applies to a job that has all options that it names.  Of rules that apply the first with a
 * queue gives the job its queue, and the first with a gpu_type its gpu_type, unless the job file
 * has one.  A partition that no rule names is the queue of that name; on one machine, which has one
 * queue, partition, account, qos and reservation have no effect, which is noted.  A constraint of
 * names with & between them is the job's `features`.  Any other option is refused.
 */
#ifndef STAGES_PREPARE_OPTION_RULES_H
#define STAGES_PREPARE_OPTION_RULES_H

#include "renderer/context.h"
#include "request/notes.h"
#include "spool/record.h"

/* Apply the rules of `map`, site.yaml's member of the job's platform, or NULL: queue and gpu_type
 * of `job`.  -1 and a sentence when an option is refused. */
int option_rules_apply(struct arena *arena, const struct value *map,
                       const struct description *description, const struct job_record *record,
                       struct context_job *job, struct notes *notes, struct error *error);

#endif
